// title: A queue without room
// expect: a queue's capacity must be at least 1, and its min_after_dequeue from 0 to below that
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto q = fg::random_shuffle_queue<fg::tensor<float>>(g, "numbers", 10, 10);
  g.name("x", q.dequeue());
});
// end
