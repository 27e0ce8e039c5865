// title: A value that is not what a queue holds
// expect: enqueue: a value must have the element type and extents of the queue's component
// facts: 28, 27.*28, 28
#include <cstdint>
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto image = g.placeholder<float, 28, 27>("image");
  auto label = g.placeholder<std::int32_t>("label");
  auto q = fg::fifo_queue<fg::tensor<float, 28, 28>, fg::tensor<std::int32_t>>(g, "examples", 100);
  g.name("put", q.enqueue(image, label));
});
// end
