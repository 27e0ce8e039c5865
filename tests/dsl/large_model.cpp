// A model that outgrows the room that define() first builds in.
#include <doctest/doctest.h>

#include <flowgraph/define.hpp>

namespace fg = flowgraph;

namespace {

constexpr int many = 40'000;
struct table {
  float values[many];
};
constexpr table numbers = [] {
  table t{};
  for (int i = 0; i < many; ++i) t.values[i] = static_cast<float>(i);
  return t;
}();

constexpr auto large = fg::define([](fg::graph& g) {
  const auto x = g.placeholder<float, many>("x");
  g.name("y", x + g.constant<float, many>(numbers.values));
});

}  // namespace

TEST_CASE("a model of any size is built whole") {
  static_assert(!fg::fits({.words = many}, fg::detail::usual_room));
  static_assert(large.nodes() == 3);
  const fg::graph_view v = large.view();
  REQUIRE(v.words.size() == many);
  CHECK(v.words[0] == fg::ops::literal_word(0.f));
  CHECK(v.words[many - 1] == fg::ops::literal_word(39'999.f));
  CHECK(v.find("y") == 2);
}
