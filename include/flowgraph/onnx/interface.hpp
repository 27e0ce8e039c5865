// What goes into a model of a file and comes out of it, as plain data.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <flowgraph/core/dtype.hpp>

namespace flowgraph {

// An input or output of an imported model, such as "x", float[batch, 64].
struct onnx_value {
  std::string name;
  dtype type = dtype::none;
  std::vector<std::string> extents;
};

namespace onnx {

// What an output is to be called, or an input that is no placeholder.
struct named_tensor {
  int node;
  std::string name;
};
// The tensors between which the graph is cut out. Placeholders that are needed and not fed are inputs behind those.
struct boundary {
  std::span<const named_tensor> fetches, fed{};
};

}  // namespace onnx
}  // namespace flowgraph
