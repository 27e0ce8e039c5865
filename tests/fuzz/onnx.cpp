// Any bytes as an ONNX model: refused with the importer's own exception, or a graph that is what passes take for
// granted. docs/CONTRIBUTING.md says how to run it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <flowgraph/graph/verify.hpp>
#include <flowgraph/language/graph.hpp>
#include <flowgraph/onnx/decode.hpp>
#include <flowgraph/onnx/import.hpp>
#include <flowgraph/onnx/importer.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flowgraph::graph g;
  try {
    flowgraph::detail::memory_budget budget("input", flowgraph::onnx_limits, size);
    const flowgraph::onnx::model_proto m =
        flowgraph::onnx::decoder::decode("input", {reinterpret_cast<const char*>(data), size}, budget);
    flowgraph::onnx::importer(g.data(), "input", m, budget).read("input");
  } catch (const flowgraph::file_error&) {
    return 0;
  }
  if (flowgraph::verify(g.view()).why != flowgraph::problem::none) std::abort();
  return 0;
}
