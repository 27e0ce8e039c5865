// A session on several devices is exported as any other is: a file has no devices.
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph.hpp>
#include <flowgraph/onnx.hpp>

#include "../io/scratch.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto w = g.variable<float, 2, 2>("w", fg::init::constant(2));
  auto there = g.device("/cpu:1");
  g.name("y", relu(matmul(x, w)));
});

}  // namespace

TEST_CASE("onnx: a session on two devices is exported") {
  const fg::testing::scratch_directory scratch;
  fg::session<fg::on_devices<model, "/cpu:0", "/cpu:1">> s({.threads = 1});
  fg::export_onnx<"y">(s, scratch / "model.onnx");
  fg::onnx_model read = fg::import_onnx(scratch / "model.onnx");
  fg::dynamic_session again(read.graph(), {.threads = 1});
  const std::vector<float> x{1, 2, -3, 0};
  const auto y = s.run<"y">(fg::feed<"x">(x));
  CHECK(y == fg::ndarray<float, batch, 2>{{6, 6}, {0, 0}});
  CHECK(again.run(again.find<float, batch, 2>("y"), fg::feed("x", x)) == y);
}
