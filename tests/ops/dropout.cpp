// Dropout: how much it drops, what it does to the rest, and that the gradient drops the same.
#include <doctest/doctest.h>

#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

// A variable through some layers of dropout, trained.
template <int Layers>
constexpr void layered(fg::graph& g) {
  auto x = g.variable<float, 1000, 100>("x");
  auto h = dropout(x, 0.5);
  for (int i = 1; i < Layers; ++i) h = dropout(h, 0.5);
  g.name("train", fg::gradient_descent(0.1).minimize(reduce_sum(h)));
}
inline constexpr auto shallow = fg::define([](fg::graph& g) { layered<1>(g); });
inline constexpr auto deep = fg::define([](fg::graph& g) { layered<12>(g); });

// No mask waits for the gradient: a deeper stack of layers needs no more memory.
static_assert(deep.peak_bytes<"train">() == shallow.peak_bytes<"train">());

}  // namespace

TEST_CASE("dropout") {
  fg::graph g;
  const auto x = g.placeholder<float, batch, 100>("x");
  const auto y = dropout(x, 0.25);
  const auto dx = gradients(reduce_sum(y), x);
  fg::dynamic_session s(g, {.threads = 1, .seed = 7});
  const std::vector<float> ones(100 * 100, 1.0f);

  const auto [first, derivative] = s.run(y, dx, fg::feed(x, ones));
  int dropped = 0, wrong = 0;
  for (std::int64_t i = 0; i < first.size(); ++i) {
    dropped += first.data()[i] == 0;
    wrong += first.data()[i] != 0 && first.data()[i] != doctest::Approx(1 / 0.75);
    wrong += first.data()[i] != derivative.data()[i];
  }
  CHECK(wrong == 0);
  CHECK(dropped > 2300);
  CHECK(dropped < 2700);
  CHECK_FALSE(s.run(y, fg::feed(x, ones)) == first);

  fg::dynamic_session again(g, {.threads = 2, .seed = 7});
  CHECK(std::get<0>(again.run(y, dx, fg::feed(x, ones))) == first);
}

TEST_CASE("dropout refuses a rate that leaves nothing") {
  fg::graph g;
  const auto x = g.placeholder<float, 3>("x");
  CHECK_THROWS_AS((void)dropout(x, 1.0), fg::graph_error);
  CHECK_THROWS_AS((void)dropout(x, -0.1), fg::graph_error);
}
