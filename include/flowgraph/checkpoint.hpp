// Saving and restoring sessions, and files in the safetensors format. Apart from <flowgraph.hpp>: it needs
// nlohmann/json.
#pragma once
#include <flowgraph/checkpoint/checkpoint.hpp>
#include <flowgraph/checkpoint/checkpoint_ops.hpp>
#include <flowgraph/checkpoint/checkpoint_series.hpp>
#include <flowgraph/formats/safetensors.hpp>
