// title: Elements for a queue that differ in number
// expect: enqueue_many: a value must have the queue's component behind a first extent, the same for all of them
// facts: 31.*32
#include <cstdint>
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto images = g.placeholder<float, 32, 784>("images");
  auto labels = g.placeholder<std::int32_t, 31>("labels");
  auto q = fg::fifo_queue<fg::tensor<float, 784>, fg::tensor<std::int32_t>>(g, "examples", 100);
  g.name("put", q.enqueue_many(images, labels));
});
// end
