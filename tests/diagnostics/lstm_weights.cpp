// title: weights of an LSTM with the rows of a GRU
// expect: lstm and gru need x \[time, batch, inputs\], a state \[batch, units\], weights
// facts: 48, 8.*48, 16
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};
inline constexpr fg::dim duration{"duration"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, duration, batch, 8>("x");
  auto h = g.placeholder<float, batch, 16>("h");
  fg::recurrent_weights weights{g.variable<float, 48, 8>("w_ih"), g.variable<float, 48, 16>("w_hh")};
  auto y = fg::lstm(x, std::tuple(h, h), weights);
  g.name("y", std::get<0>(y));
});
// end
