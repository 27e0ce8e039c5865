// Files of tensors in the safetensors format. Apart from <flowgraph.hpp>: it needs nlohmann/json.
#pragma once
#include <flowgraph/io/safetensors.hpp>
