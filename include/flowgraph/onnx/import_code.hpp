// Defines what import.hpp declares.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/formats/file_bytes.hpp>
#include "decode.hpp"
#include "import.hpp"
#include "importer.hpp"

namespace flowgraph::onnx {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void read_model(const std::string& file, graph_data& to, std::vector<onnx_value>& inputs,
                                     std::vector<onnx_value>& outputs, const file_limits& limits) {
  const std::string bytes = detail::load_file(file, limits);
  detail::memory_budget budget(file, limits, bytes.size());
  const model_proto model = decoder::decode(file, bytes, budget);
  importer from(to, file, model, budget);
  from.read(file.c_str());
  inputs = std::move(from.inputs);
  outputs = std::move(from.outputs);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::onnx
