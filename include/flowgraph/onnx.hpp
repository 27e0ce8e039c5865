// Models to and from ONNX files. Apart from <flowgraph.hpp>: it needs protozero. docs/onnx.md shows it.
#pragma once
#include <flowgraph/onnx/export.hpp>
#include <flowgraph/onnx/import.hpp>
