// title: Asking a session for a queue that is none
// expect: the model has no queue, mutex or barrier of this kind and name
// facts: "lock"
#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>
namespace fg = flowgraph;

// begin
inline constexpr auto model = fg::define([](fg::graph& g) { g.name("free", fg::mutex(g, "lock").release()); });
void close(fg::session<model>& s) { auto q = s.queue<"lock">(); }
// end
