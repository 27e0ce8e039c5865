// expect: host_call: the function must take an array_ref<const T> for each operand
// facts: named<.*"norm"
// facts: tensor<double, [a-z:]*dim<6>\{"batch"\}, 3>
// title: A function of other types
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

void norm(fg::array_ref<const float> x, fg::array_ref<float> y);

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto x = g.placeholder<double, batch, 3>("x");
  g.name("y", fg::host_call<"norm", norm, fg::tensor<float, batch>>(x));
  // end
});
