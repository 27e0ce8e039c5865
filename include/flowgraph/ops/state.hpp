// Updates of variables. The variable is the first operand, and its memory is what the kernel writes. An update has
// no value: who wants the new one reads the variable under a control dependency.
#pragma once
#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

template <class Self, fixed_string Name>
struct update : op<Self, Name> {
  static constexpr bool operation_on_equals = true;
  static constexpr trait traits = trait::stateful | trait::writes_operand;
  static constexpr void infer(inference& f) {
    f.require(f.type(0) == f.type(1) && f.in(0) == f.in(1), problem::assign_shape);
  }
};

struct assign : update<assign, "assign"> {};
struct assign_add : update<assign_add, "assign_add"> {};
struct assign_sub : update<assign_sub, "assign_sub"> {};

}  // namespace flowgraph::ops
