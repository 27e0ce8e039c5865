// Defines what export.hpp declares.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include <flowgraph/formats/durable_file.hpp>
#include "encode.hpp"
#include "export.hpp"
#include "exporter.hpp"

namespace flowgraph::onnx {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void write_model(detail::engine& e, const graph_view& g, const file_path& path,
                                      const boundary& b) {
  model_proto model;
  detail::read_variables(e, [&](std::span<const detail::variable_view> variables, detail::random_position) {
    model = exporter(g, b, path.string()).write([&](int node) {
      for (const detail::variable_view& v : variables)
        if (v.node == node) return std::string(v.value.as<const char>(), v.bytes());
      return std::string();
    });
  });
  const std::string bytes = encoder::encode(model);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(bytes))};
  detail::write_durably(path, parts);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::onnx
