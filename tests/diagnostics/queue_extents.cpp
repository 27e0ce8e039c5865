// title: A queue of elements whose extents are not known
// expect: the elements of a queue must have extents that are numbers: they outlive the feeds that bind names
// facts: "batch"}, 784
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

// begin
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 784>("x");
  auto q = fg::fifo_queue<fg::tensor<float, batch, 784>>(g, "batches", 10);
  g.name("put", q.enqueue(x));
});
// end
