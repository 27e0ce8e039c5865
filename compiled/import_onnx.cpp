// Models from ONNX files, compiled once.
#include <flowgraph/onnx/import_code.hpp>
