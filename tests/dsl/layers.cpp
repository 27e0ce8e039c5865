// Layers beside PyTorch's, and how they name, make and share their parameters.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>
#include "../../bench/support/inputs.hpp"
#include "support/golden.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;
namespace layers = flowgraph::layers;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim time_steps{"time"};

std::vector<double> numbers(std::size_t n, std::uint32_t salt, float scale = 1) {
  const auto v = bench::numbers(n, salt, scale);
  return {v.begin(), v.end()};
}

template <class Array>
void check(const std::string& name, std::size_t k, const Array& got) {
  INFO(name, " ", k);
  for (const auto& c : fg::testing::read_goldens(fg::testing::test_file("golden/layers.txt"))) {
    if (c.name != name) continue;
    REQUIRE(static_cast<std::size_t>(got.size()) == c.out[k].values.size());
    std::size_t i = 0;
    for (const double x : got) CHECK(x == doctest::Approx(c.out[k].values[i++]).epsilon(1e-9));
    return;
  }
  throw std::out_of_range(name);
}

// One description for both phases.
constexpr auto convolutional(fg::phase p) {
  return layers::sequential(
      layers::conv2d<4, 3, 3, fg::conv{.padding = fg::same}>("conv"), layers::batch_norm("norm", p, {.momentum = 0.9}),
      [](auto x) { return relu(x); }, [](auto x) { return fg::flatten(x); }, layers::dropout(0.0, p),
      layers::dense<3>("out"));
}

constexpr auto images = fg::define([](fg::graph& g) {
  auto x = g.placeholder<double, batch, 5, 5, 2>("x");
  g.name("training", convolutional(fg::phase::training)(x));
  auto same = g.share_variables();
  g.name("inference", convolutional(fg::phase::inference)(x));
});

constexpr auto attending = fg::define([](fg::graph& g) {
  auto x = g.placeholder<double, batch, time_steps, 8>("x");
  auto memory = g.placeholder<double, batch, 3, 8>("memory");
  auto mask = g.placeholder<double, 5, 3>("mask");
  auto wide = g.placeholder<double, batch, 5, 8>("wide");
  g.name("masked", layers::multi_head_attention<2>(wide, memory, "attention", mask));
  auto same = g.share_variables();
  g.name("self", layers::multi_head_attention<2>(x, x, "attention"));
});

constexpr auto words = fg::define([](fg::graph& g) {
  auto i = g.placeholder<std::int64_t, batch, time_steps>("i");
  auto x = layers::embedding<7, 6, double>(i, "words");
  g.name("y", layers::residual(layers::sequential(layers::layer_norm("norm"), layers::dense<6>("dense")))(x));
});

}  // namespace

TEST_CASE("one description trains and infers with the same parameters") {
  static_assert(images.parameters() == 3 * 3 * 2 * 4 + 4 + 2 * 4 + 5 * 5 * 4 * 3 + 3);
  static_assert(images.view().find("conv/filters_1") < 0 && images.view().find("norm/mean") >= 0);
  fg::session<images> s({.threads = 1});
  s.set<"conv/filters">(numbers(72, 1, 0.5f));
  s.set<"conv/b">(numbers(4, 2, 0.1f));
  s.set<"norm/scale">(numbers(4, 3));
  s.set<"norm/offset">(numbers(4, 4));
  s.set<"out/w">(numbers(300, 5, 0.2f));
  s.set<"out/b">(numbers(3, 6));
  const auto x = numbers(150, 0);
  for (int step = 0; step < 2; ++step) (void)s.run<"training">(fg::feed<"x">(x));
  check("convolutional", 0, s.run<"training">(fg::feed<"x">(x)));
  check("convolutional", 1, s.run<"inference">(fg::feed<"x">(x)));
  check("convolutional", 2, s.get<"norm/mean">());
  check("convolutional", 3, s.get<"norm/variance">());
}

TEST_CASE("attention") {
  static_assert(attending.parameters() == 4 * (8 * 8 + 8));
  fg::session<attending> s({.threads = 1});
  s.set<"attention/query/w">(numbers(64, 12, 0.5f));
  s.set<"attention/key/w">(numbers(64, 13, 0.5f));
  s.set<"attention/value/w">(numbers(64, 14, 0.5f));
  s.set<"attention/out/w">(numbers(64, 15, 0.5f));
  s.set<"attention/query/b">(numbers(8, 16, 0.1f));
  s.set<"attention/key/b">(numbers(8, 17, 0.1f));
  s.set<"attention/value/b">(numbers(8, 18, 0.1f));
  s.set<"attention/out/b">(numbers(8, 19, 0.1f));
  std::vector<double> mask(15, 0);
  mask[2] = mask[5] = -1e9;
  const auto x = numbers(80, 10);
  check("attention", 0,
        s.run<"masked">(fg::feed<"wide">(x), fg::feed<"memory">(numbers(48, 11)), fg::feed<"mask">(mask)));
  check("attention", 1, s.run<"self">(fg::feed<"x">(fg::ndarray<double, batch, time_steps, 8>({2, 5, 8}, x))));
}

TEST_CASE("embedding, layer_norm, dense and residual") {
  fg::session<words> s({.threads = 1});
  s.set<"words/table">(numbers(42, 20));
  s.set<"norm/scale">(numbers(6, 22));
  s.set<"norm/offset">(numbers(6, 23));
  s.set<"dense/w">(numbers(36, 24, 0.5f));
  s.set<"dense/b">(numbers(6, 25));
  const auto indices = bench::integers(8, 21, 7);
  check("block", 0, s.run<"y">(fg::feed<"i">(fg::ndarray<std::int64_t, batch, time_steps>({2, 4}, indices))));
}

TEST_CASE("a layer's name is given once, or shared, with parameters of one shape") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 4>("x");
  auto y = layers::dense<8>(x, "a");
  CHECK_THROWS_WITH_AS(layers::dense<8>(x, "a"),
                       doctest::Contains("\"a\": a layer of this name has its parameters already"), fg::graph_error);
  {
    const auto same = g.share_variables();
    const int size = g.view().names.size();
    (void)layers::dense<8>(x, "a");
    CHECK(g.view().names.size() == size);
    CHECK_THROWS_WITH_AS(layers::dense<3>(x, "a"), doctest::Contains("\"w\": a variable that is shared must have"),
                         fg::graph_error);
  }
  CHECK_THROWS_AS(layers::dense<8>(x, "a"), fg::graph_error);
  {
    const auto inner = g.scope("inner");
    (void)layers::dense<3>(y, "a");
  }
  CHECK(g.view().find("inner/a/w") >= 0);
  CHECK(g.view().find("a/w") >= 0);
  CHECK(layers::dense<5>(x, "plain", {.bias = false}).id >= 0);
  CHECK(g.view().find("plain/b") < 0);
}
