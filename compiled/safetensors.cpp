// Files in the safetensors format, compiled once.
#include <flowgraph/formats/safetensors_code.hpp>
