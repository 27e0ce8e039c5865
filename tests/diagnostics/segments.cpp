// expect: there must be one row for each part, segment or position, of the result's extents behind the first
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}, 4>
// title: Not a segment for each row
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<float, batch, 4>("x");
  auto ids = g.placeholder<std::int64_t, 8>("ids");
  g.name("sums", fg::segment_sum<3>(x, ids));
  // end
});
