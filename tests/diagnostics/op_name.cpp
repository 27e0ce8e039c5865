// expect: an_op_needs_a_name_of_its_own
// facts: an_op_needs_a_name_of_its_own
// title: An op with a name that is taken
#include <flowgraph.hpp>
namespace fg = flowgraph;

// begin
struct my_relu : fg::op<my_relu, "relu"> {
  static constexpr void infer(fg::inference& f) { f.out(f.in(0), f.type(0)); }
};
// end
