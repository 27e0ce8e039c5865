// title: Too few values for an element of a queue
// expect: a queue has 1 to 7 components, and each element has a tensor for every one of them
#include <cstdint>
#include <flowgraph/define.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto image = g.placeholder<float, 28, 28>("image");
  auto q = fg::fifo_queue<fg::tensor<float, 28, 28>, fg::tensor<std::int32_t>>(g, "examples", 100);
  g.name("put", q.enqueue(image));
});
// end
