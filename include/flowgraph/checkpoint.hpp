// Saving and restoring sessions, and files in the safetensors format. Apart from <flowgraph.hpp>: it needs
// nlohmann/json.
#pragma once
#include <flowgraph/io/checkpoint.hpp>
#include <flowgraph/io/checkpoint_ops.hpp>
#include <flowgraph/io/checkpoint_series.hpp>
#include <flowgraph/io/safetensors.hpp>
