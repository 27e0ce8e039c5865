// A session on several devices is trained in one call, saved and restored as any other is.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/checkpoint/checkpoint.hpp>
#include <flowgraph/data/from_memory.hpp>
#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>
#include <flowgraph/train/fit.hpp>

#include "scratch.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto line = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch>("x");
  auto y = g.placeholder<float, batch>("y");
  auto a = g.variable<float>("a");
  auto there = g.device("/cpu:1");
  auto b = g.variable<float>("b");
  auto loss = g.name("loss", reduce_mean(square(x * a + b - y)));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
});
constexpr const auto& on_two = fg::on_devices<line, "/cpu:0", "/cpu:1">;

}  // namespace

TEST_CASE("fit, save and restore take sessions on several devices") {
  const fg::testing::scratch_directory scratch;
  std::vector<float> x, y;
  for (int i = 0; i < 64; ++i) {
    x.push_back(static_cast<float>(i % 8) / 4 - 1);
    y.push_back(3 * x.back() + 2);
  }
  fg::session<on_two> s({.threads = 2});
  fg::fit(s, fg::each<"loss", "train">(fg::from_memory(x, y).batch(16), fg::into<"x", "y">),
          {.epochs = 60, .progress = fg::progress::silent});
  CHECK(s.get<"a">()() == doctest::Approx(3).epsilon(0.01));
  CHECK(s.get<"b">()() == doctest::Approx(2).epsilon(0.01));
  fg::save(s, scratch / "line.safetensors");
  fg::session<fg::on_devices<line, "/cpu:1">> one({.threads = 1});  // variables have no device in a file
  fg::restore(one, scratch / "line.safetensors");
  CHECK(one.get<"a">()() == s.get<"a">()());
  CHECK(one.get<"b">()() == s.get<"b">()());
}
