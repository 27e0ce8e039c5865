// title: Dequeuing nothing
// expect: dequeue_many and dequeue_up_to need a number of at least 1, or a named extent
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "numbers", 10);
  g.name("x", q.dequeue_many<0>());
});
// end
