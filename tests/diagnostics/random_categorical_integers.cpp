// expect: this op needs a floating-point operand; cast it
// facts: tensor<long
// title: Classes drawn from counts, which are no logits
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto counts = g.placeholder<std::int64_t, batch, 10>("counts");
  g.name("drawn", fg::random_categorical(counts));
  // end
});
