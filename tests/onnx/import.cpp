// Models that others made: PyTorch's exporter, with PyTorch's own numbers, and onnx's tests of single ops.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/onnx.hpp>

#include "../io/scratch.hpp"
#include "rows.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;
using namespace fg::testing;

namespace {

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(fg::testing::test_file("golden/onnx")) / name;
}

void compare_outputs(const std::filesystem::path& directory, double tolerance) {
  const std::vector<fetched_array> got = run_model(directory / "model.onnx", tensors(directory, "input"));
  const std::vector<typed_array> expected = tensors(directory, "output");
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    compare(directory.filename().string() + ", output " + std::to_string(k), got[k], as_fetched(expected[k]),
            tolerance);
}

constexpr fg::dim batch{"batch"};

}  // namespace

TEST_CASE("onnx: models that PyTorch exported give PyTorch's numbers") {
  for (const char* name :
       {"torch_mlp", "torch_cnn", "torch_transformer", "torch_assorted", "torch_recurrent", "torch_choosing"}) {
    INFO(name);
    compare_outputs(golden(name), 2e-5);
  }
}

TEST_CASE("onnx: an imported model has typed handles, named extents and weights as variables") {
  fg::onnx_model m = fg::import_onnx(golden("torch_mlp") / "model.onnx");
  REQUIRE(m.inputs().size() == 1);
  CHECK(m.inputs()[0].name == "x");
  CHECK(m.inputs()[0].extents == std::vector<std::string>{"batch", "16"});
  CHECK(m.outputs()[0].name == "y");
  CHECK(m.outputs()[0].type == fg::dtype::float32);
  CHECK(m.outputs()[0].extents == std::vector<std::string>{"batch", "5"});

  fg::dynamic_session s(m.graph());
  const auto y = s.find<float, batch, 5>("y");
  const std::vector<float> five(5 * 16, 0.25f);
  CHECK(s.run(y, fg::feed("x", five)).dims()[0] == 5);
  int trainable = 0, frozen = 0;
  const fg::graph_view g = m.graph().view();
  for (int i = 0; i < g.size(); ++i)
    if (g.nodes[i].op->id == fg::ops::variable::id)
      ++(fg::detail::attrs_from_words<fg::ops::variable::attrs>(g.attrs(i).data).trainable ? trainable : frozen);
  CHECK(trainable > 0);
}

TEST_CASE("onnx: an imported model is trained on, through its loops") {
  fg::onnx_model m = fg::import_onnx(golden("torch_recurrent") / "model.onnx");
  const std::vector<float> x(3 * 7 * 4, 0.5f);
  const auto loss = [&] {
    fg::dynamic_session s(m.graph());
    return fg::reduce_mean(fg::square(s.find<float, 1, batch, 6>("state") - 0.5f));
  }();
  const auto train = fg::gradient_descent(0.5).minimize(loss);
  fg::dynamic_session s(m.graph(), {.threads = 1});
  const auto feed = fg::feed("x", fg::ndview<const float, 3, 7, 4>(x.data()));
  const float before = s.run(loss, feed);
  for (int i = 0; i < 20; ++i) s.run(train, feed);
  CHECK(s.run(loss, feed) < 0.1f * before);
}

// Written by run_node_tests.py: what onnx itself tests the ops with that can be imported.
TEST_CASE("onnx: single ops give the numbers of onnx's own tests") {
  const char* directory = std::getenv("FLOWGRAPH_ONNX_NODE_TESTS");
  if (directory == nullptr) return;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    INFO(entry.path().filename().string());
    try {
      compare_outputs(entry.path(), 1e-4);
    } catch (const std::exception& e) {
      FAIL_CHECK(std::string(e.what()));
    }
  }
}
