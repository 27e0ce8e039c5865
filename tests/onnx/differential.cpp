// The half of fuzz.py that runs models here: each directory below FLOWGRAPH_ONNX_MODELS has a model.onnx with inputs,
// and gets outputs beside them, or the reason why there are none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/onnx.hpp>
#include <flowgraph/onnx/encode.hpp>

#include "../io/scratch.hpp"
#include "rows.hpp"

namespace fg = flowgraph;
namespace fgd = flowgraph::detail;
using namespace fg::testing;

namespace {

// As bytes: an int64 is more than a double can hold.
void write_outputs(fg::onnx_model& m, const std::vector<typed_array>& inputs, const std::filesystem::path& directory) {
  const fg::graph_view g = m.graph().view();
  const fed_nodes nodes = nodes_of(m, inputs);
  const fgd::engine_handle engine(
      fgd::make_engine(fg::session_options{.threads = 1, .seed = 1}, g, &fgd::find_resource));
  const auto ids = [](const std::vector<int>& v) { return fgd::slice<int>{v.data(), static_cast<int>(v.size())}; };
  const std::shared_ptr<fgd::prepared_step> step =
      fgd::prepare(*engine, g, ids(nodes.fetches), ids(nodes.feeds), fgd::library_kernels());
  std::vector<const fgd::borrowed*> data;
  for (const fgd::borrowed& b : nodes.data) data.push_back(&b);
  fgd::run(*engine, *step, g, {data.data(), nullptr}, [&](const fgd::step_values& done) {
    for (std::size_t k = 0; k < done.size(); ++k) {
      const fg::array_view v = done.view(k);
      fg::onnx::tensor_proto t{m.outputs()[k].name, fg::onnx::code_of(v.type), {}, ""};
      for (int i = 0; i < v.rank; ++i) t.dims.push_back(v.dim(i));
      std::vector<double> copy(static_cast<std::size_t>(v.size()) + 1);  // large enough for any type, and aligned
      done.copy(k, copy.data());
      t.data.assign(reinterpret_cast<const char*>(copy.data()),
                    static_cast<std::size_t>(v.size() * fg::size_of(v.type)));
      put_content(directory / ("got_" + std::to_string(k) + ".pb"), fg::onnx::encoder::encode(t));
    }
  });
}

}  // namespace

TEST_CASE("onnx: models of a directory are run for others to compare") {
  const char* from = std::getenv("FLOWGRAPH_ONNX_MODELS");
  if (from == nullptr) return;
  std::set<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(from))
    if (entry.is_directory() && !std::filesystem::exists(entry.path() / "done")) all.insert(entry.path());
  for (const std::filesystem::path& directory : all) {
    put_content(directory / "done", "");  // first: who starts again behind a crash passes over what crashed
    bool imported = false;
    try {
      fg::onnx_model m = fg::import_onnx(directory / "model.onnx");
      imported = true;
      write_outputs(m, tensors(directory, "input"), directory);
      put_content(directory / "done", "run");
    } catch (const fg::onnx_error& e) {
      put_content(directory / "done", std::string("refused ") + e.what());
    } catch (const std::exception& e) {
      put_content(directory / "done", (imported ? "failed " : "unreadable ") + std::string(e.what()));
    }
  }
}
