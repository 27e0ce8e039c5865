// Models to ONNX files, compiled once.
#include <flowgraph/onnx/export_code.hpp>
