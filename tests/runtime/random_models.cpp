// Twenty of the random graphs as constexpr models: built, differentiated and planned by the compiler, they compute what
// the graph that the program builds does.
#include <tuple>
#include <utility>

#include <doctest/doctest.h>

#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

#include "support/random_graph_data.hpp"

namespace fg = flowgraph;
using random_graph::output_rows;

namespace {

template <std::uint64_t Seed>
struct building {
  constexpr void operator()(fg::graph& g) const { random_graph::build(g, Seed); }
};
template <std::uint64_t Seed>
inline constexpr auto random_model = fg::define(building<Seed>{});

template <class Values>
output_rows to_rows(const Values& values) {
  output_rows all;
  std::apply([&](const auto&... v) { (all.emplace_back(v.begin(), v.end()), ...); }, values);
  return all;
}

template <std::uint64_t Seed>
void check_model() {
  CAPTURE(Seed);
  const random_graph::feeds data(Seed);
  fg::session<random_model<Seed>> compiled({.threads = 1, .seed = Seed});
  const output_rows got = to_rows(data.give(
      [&](const auto&... feeds) { return compiled.template run<"out0", "out1", "out2", "out3", "out4">(feeds...); }));
  fg::graph g;
  random_graph::build(g, Seed);
  CHECK(g.view().size() == random_model<Seed>.nodes());
  fg::dynamic_session s(g, {.threads = 1, .seed = Seed});
  const auto handle = [&](const char* name) {
    return fg::tensor<double, fg::dim{"n"}>{&g.data(), g.view().find(name)};
  };
  const output_rows expected = to_rows(data.give([&](const auto&... feeds) {
    return s.run(handle("out0"), handle("out1"), handle("out2"), handle("out3"), handle("out4"), feeds...);
  }));
  CHECK(random_graph::distance(expected, got, random_graph::has_halves(Seed)) <= 1);
}

}  // namespace

TEST_CASE("a random graph as a constexpr model") {
  [&]<std::uint64_t... I>(std::integer_sequence<std::uint64_t, I...>) {
    (check_model<I * 10>(), ...);
  }(std::make_integer_sequence<std::uint64_t, 20>{});
}
