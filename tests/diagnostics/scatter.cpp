// expect: scatter: the updates must have the shape of the indices followed by the rest of the target
// facts: tensor<float, 100, 8>.*tensor<int, [a-z:]*dim<6>\{"batch"\}>.*tensor<float, [a-z:]*dim<6>\{"batch"\}, 4>
// title: Rows of another length
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto table = g.variable<float, 100, 8>("table");
  auto ids = g.placeholder<int, batch>("ids");
  auto rows = g.placeholder<float, batch, 4>("rows");
  g.name("add", scatter_add(table, ids, rows));
  // end
});
