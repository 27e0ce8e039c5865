// title: A value from C++ that is not what a queue holds
// expect: enqueue: a value must have the element type and extents of the queue's component
// facts: double.*float
#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>
#include <vector>
namespace fg = flowgraph;

// begin
inline constexpr auto model =
    fg::define([](fg::graph& g) { g.name("x", fg::fifo_queue<fg::tensor<float, 2>>(g, "pairs", 10).dequeue()); });
void put(fg::session<model>& s, const std::vector<double>& pair) { s.queue<"pairs">().enqueue(pair); }
// end
