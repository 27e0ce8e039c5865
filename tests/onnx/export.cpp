// What a file holds: the graph between the tensors that it is asked for and those that are fed, without dropout.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph.hpp>
#include <flowgraph/onnx.hpp>

#include "../io/scratch.hpp"
#include "rows.hpp"

namespace fg = flowgraph;
using namespace fg::testing;

namespace {

constexpr fg::dim batch{"batch"};

std::vector<std::string> names_of(const std::vector<fg::onnx_value>& values) {
  std::vector<std::string> names;
  for (const fg::onnx_value& v : values) names.push_back(v.name);
  return names;
}

fg::problem refusal(const auto& act) {
  try {
    act();
  } catch (const fg::onnx_error& e) {
    CHECK(e.faults().size() == 1);
    return e.why();
  }
  return fg::problem::none;
}

}  // namespace

TEST_CASE("onnx: dropout is left out") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 4>("x");
  auto y = g.name("y", fg::dropout(x * 2.0f, 0.5));
  fg::dynamic_session s(g);
  const scratch_directory directory;
  fg::export_onnx(s, directory / "model.onnx", y);
  const typed_array given(fg::dtype::float32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(run_model(directory / "model.onnx", {given})[0].values == std::vector<double>{2, 4, 6, 8, 10, 12, 14, 16});
}

TEST_CASE("onnx: a tensor that is fed is an input, and what computes it stays behind") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 3>("x");
  auto w = g.variable<float, 3, 3>("w", fg::init::constant(2));
  auto drawn = x + fg::random_normal<float, batch, 3>(g);  // has no form in ONNX
  auto h = g.name("h", matmul(drawn, w));
  auto [largest, where] = fg::top_k<2>(h);
  auto y = g.name("y", exp(h) + x);
  auto picked = g.name("picked", largest * 2.0f + cast<float>(where));
  fg::dynamic_session s(g);
  const scratch_directory directory;
  const auto file = directory / "model.onnx";
  const typed_array zeros(fg::dtype::float32, {2, 3}, std::vector<double>(6, 0.0)),
      ones(fg::dtype::float32, {2, 3}, std::vector<double>(6, 1.0));

  fg::export_onnx(s, file, fg::fed(h), y);  // placeholders that are needed come behind
  CHECK(names_of(fg::import_onnx(file).inputs()) == std::vector<std::string>{"h", "x"});
  CHECK(run_model(file, {zeros, ones})[0].values == std::vector<double>(6, 2.0));

  fg::export_onnx(s, file, h, fg::fed(drawn, w));  // a tensor without a name, and a variable
  CHECK(names_of(fg::import_onnx(file).inputs()) == std::vector<std::string>{"input_0", "w"});
  const typed_array square(fg::dtype::float32, {3, 3}, std::vector<double>(9, 0.5));
  CHECK(run_model(file, {ones, square})[0].values == std::vector<double>(6, 1.5));

  fg::export_onnx(s, file, picked, fg::fed(largest, h));  // one of several results of a node
  CHECK(names_of(fg::import_onnx(file).inputs()) == std::vector<std::string>{"input_0", "h"});
  const typed_array two(fg::dtype::float32, {2, 2}, {5, 5, 5, 5}),
      rising(fg::dtype::float32, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(run_model(file, {two, rising})[0].values == std::vector<double>{12, 11, 12, 11});

  const auto by = [&](const auto&... arguments) {
    return refusal([&] { fg::export_onnx(s, directory / "none.onnx", arguments...); });
  };
  CHECK(by(y) == fg::problem::no_onnx_form);
  CHECK(by(h, fg::fed(h, x)) == fg::problem::fed_in_vain);
  CHECK(by(y, fg::fed(h, h)) == fg::problem::fed_twice);
  CHECK_FALSE(std::filesystem::exists(directory / "none.onnx"));
  fg::graph other;
  CHECK_THROWS_AS(fg::export_onnx(s, file, y, fg::fed(other.placeholder<float>("x"))), fg::graph_error);
}
