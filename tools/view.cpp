// What tools/flowgraph compiles: a page or an explanation of one model, which is a value that FLOWGRAPH_MODEL_FILE
// defines, or an ONNX file.
#include <charconv>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#ifdef FLOWGRAPH_MODEL_FILE
#define main flowgraph_viewed_program  // a program may be looked at, too
#include FLOWGRAPH_MODEL_FILE
#undef main
#else
#include <flowgraph/onnx/import.hpp>
#endif
#include <flowgraph/look/explain.hpp>
#include <flowgraph/look/html.hpp>

namespace {

// "batch=32"
flowgraph::binding extent_of(std::string_view text) {
  const auto at = text.find('=');
  flowgraph::binding b{text.substr(0, at), 0};
  const std::string_view number = at == text.npos ? std::string_view() : text.substr(at + 1);
  const auto end = std::from_chars(number.data(), number.data() + number.size(), b.value);
  if (end.ec != std::errc() || end.ptr != number.data() + number.size() || b.value < 1 || b.name.empty())
    throw std::invalid_argument("--extent: expected a name and a number, such as batch=32, got \"" + std::string(text) +
                                "\"");
  return b;
}

template <class Model>
void look(const Model& model, const std::string& page, const flowgraph::look_options& options) {
  if (page.empty())
    std::fputs(flowgraph::explain(model, options).c_str(), stdout);
  else
    flowgraph::write_html(page, model, {}, options);
}

}  // namespace

// page, or "" for an explanation; title; ONNX file, or ""; then +NAME for each fetch and NAME=NUMBER for each extent.
int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  flowgraph::look_options options;
  options.title = argv[2];
  for (int i = 4; i < argc; ++i) {
    if (argv[i][0] == '+')
      options.fetches.push_back(argv[i] + 1);
    else
      options.extents.push_back(extent_of(argv[i]));
  }
#ifdef FLOWGRAPH_MODEL_FILE
  look(FLOWGRAPH_MODEL, argv[1], options);
#else
  flowgraph::onnx_model model = flowgraph::import_onnx(argv[3]);
  look(model.graph(), argv[1], options);
#endif
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "flowgraph: %s\n", e.what());
  return 1;
}
