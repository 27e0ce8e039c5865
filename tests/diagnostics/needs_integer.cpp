// expect: indices and labels must be int32 or int64; cast them
// facts: tensor<float, 10, 4>
// facts: tensor<float, [a-z:]*dim<6>\{"batch"\}>
// title: Indices that are not integers
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto table = g.variable<float, 10, 4>("table");
  auto ids = g.placeholder<float, batch>("ids");
  g.name("rows", gather<0>(table, ids));
  // end
});
