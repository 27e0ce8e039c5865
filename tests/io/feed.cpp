// Batches go into a session as they are: the extent that is named batch is bound by each of them.
#include <flowgraph.hpp>
#include <flowgraph/data.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto seen = g.variable<float>("seen");
  auto total = reduce_sum(x) + cast<float>(reduce_sum(y));
  g.name("total", total);
  g.name("add", assign_add(seen, total));
});

}  // namespace

TEST_CASE("a for over batches feeds a session, the last partial one too") {
  const std::vector<float> pixels{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> labels{10, 20, 30};
  const auto data = fg::from_memory(fg::ndview<const float, batch, 2>(pixels), labels).batch(2).prefetch(2);
  fg::session<model> s;
  std::vector<float> totals;
  for (auto [images, numbers] : data)
    totals.push_back(s.run<"total", "add">(fg::feed<"x">(images), fg::feed<"y">(numbers)));
  CHECK(totals == std::vector<float>{40, 41});
  CHECK(s.get<"seen">() == 81.f);
}
