// expect: this function has no such argument
// facts: "batch"}, 10>
// facts: int, int
// title: More arguments than a metric has
#include <flowgraph/define.hpp>
namespace fg = flowgraph;
inline constexpr fg::dim batch{"batch"};

inline constexpr auto model = fg::define([](fg::graph& g) {
  // begin
  auto logits = g.placeholder<float, batch, 10>("logits");
  auto labels = g.placeholder<int, batch>("labels");
  auto accuracy = fg::metrics::accuracy(logits, labels, "accuracy", 0, 1);
  g.name("y", logits * 2);
  // end
});
