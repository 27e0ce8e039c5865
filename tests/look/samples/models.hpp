// What tools/flowgraph is tested with.
#pragma once
#include <flowgraph/define.hpp>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto dense = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 8>("x");
  auto layer = g.scope("layer");
  auto w = g.variable<float, 8, 4>("w");
  g.name("y", relu(matmul(x, w)));
});

inline constexpr auto sum =
    fg::define([](fg::graph& g) { g.name("sum", reduce_sum(g.placeholder<float, batch>("x"))); });
