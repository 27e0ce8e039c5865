// Many machines. Apart from <flowgraph.hpp>: what runs it needs Asio, OpenSSL, protozero and nlohmann/json.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/net/cluster.hpp>
#include <flowgraph/net/network_options.hpp>
