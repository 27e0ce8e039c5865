#pragma once

#include <cstdint>
#include <flowgraph/define.hpp>

inline constexpr flowgraph::dim batch{"batch"};

inline constexpr auto line = flowgraph::define([](flowgraph::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto w = g.variable<float, 2, 1>("w");
  g.name("y", matmul(x, w) + 1.0f);
});

// Defined in a file that sees <flowgraph/define.hpp> alone.
std::int64_t parameters_of_line();
