// Models to and from ONNX files. Apart from <flowgraph.hpp>: it needs protozero. docs/onnx.md shows it.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/onnx/export.hpp>
#include <flowgraph/onnx/import.hpp>
