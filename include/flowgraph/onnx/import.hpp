// fg::import_onnx: an ONNX file as a graph that a dynamic_session runs.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_limits.hpp>
#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/language/graph.hpp>
#include "error.hpp"
#include "interface.hpp"

namespace flowgraph {

namespace onnx {
inline namespace FLOWGRAPH_HALF {

// The nodes' source lines name the file by this string.
FLOWGRAPH_OTHER_HALF void read_model(const std::string& file, graph_data& to, std::vector<onnx_value>& inputs,
                                     std::vector<onnx_value>& outputs, const file_limits& limits);

}  // namespace FLOWGRAPH_HALF
}  // namespace onnx

// Of an import, which makes little but weights of a file: a few lines of ONNX can ask for as much as they like.
inline constexpr file_limits onnx_limits{.bytes = std::uint64_t{1} << 28};

// A model that was read from a file. Its values have the names that they have there; initialisers are variables that
// begin with the file's numbers; symbolic dimensions are named extents.
class onnx_model {
 public:
  // Throws onnx_error, with the node and the op that can't be imported, or file_error where there is no such file.
  explicit onnx_model(const file_path& file, const file_limits& limits = onnx_limits)
      : file_(std::make_unique<const std::string>(file.string())),
        graph_(std::make_unique<flowgraph::graph>()) {
    onnx::read_model(*file_, graph_->data(), inputs_, outputs_, limits);
  }

  // For fg::dynamic_session, which the model must outlive.
  flowgraph::graph& graph() { return *graph_; }
  const std::vector<onnx_value>& inputs() const { return inputs_; }
  const std::vector<onnx_value>& outputs() const { return outputs_; }

 private:
  std::unique_ptr<const std::string> file_;  // what the nodes' source lines name
  std::unique_ptr<flowgraph::graph> graph_;
  std::vector<onnx_value> inputs_, outputs_;
};

inline onnx_model import_onnx(const file_path& file, const file_limits& limits = onnx_limits) {
  return onnx_model(file, limits);
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "import_code.hpp"
#endif
