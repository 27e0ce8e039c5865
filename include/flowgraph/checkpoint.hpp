// Saving and restoring sessions, and files in the safetensors format. Apart from <flowgraph.hpp>: it needs
// nlohmann/json.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/checkpoint/checkpoint.hpp>
#include <flowgraph/checkpoint/checkpoint_ops.hpp>
#include <flowgraph/checkpoint/checkpoint_series.hpp>
#include <flowgraph/formats/safetensors.hpp>
