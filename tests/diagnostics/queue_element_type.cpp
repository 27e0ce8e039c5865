// title: A value of another element type than a queue holds
// expect: enqueue: a value must have the element type and extents of the queue's component
// facts: tensor<int>.*tensor<float>
#include <cstdint>
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "numbers", 100);
  g.name("put", q.enqueue(g.placeholder<std::int32_t>("x")));
});
// end
