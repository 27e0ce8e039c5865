// expect: there must be one row for each part, segment or position, of the result's extents behind the first
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 4>.*tensor<[a-z ]+(64_t|int|long)?, 8>
// title: Not a number for each row
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 4>("x");
  auto ids = g.placeholder<std::int64_t, 8>("ids");
  auto [even, odd] = fg::dynamic_partition<2>(x, ids % 2);
  g.name("even", even.rows);
  // end
});
