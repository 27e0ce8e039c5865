// Updates of variables. The variable is the first operand, and its memory is what the kernel writes. An update has
// no value: who wants the new one reads the variable under a control dependency.
#pragma once
#include "embedding.hpp"

namespace flowgraph::ops {

template <class Self, fixed_string Name>
struct update : op<Self, Name> {
  static constexpr bool update_of_equals = true;
  static constexpr trait traits = trait::stateful | trait::writes_operand | trait::absorbs;
  static constexpr void infer(inference& f) {
    f.require(f.type(0) == f.type(1) && f.in(0) == f.in(1), problem::assign_shape);
  }
};

struct assign : update<assign, "assign"> {};
struct assign_add : update<assign_add, "assign_add"> {};
struct assign_sub : update<assign_sub, "assign_sub"> {};

// (variable, indices, rows): the rows of the variable that the indices name. Where an index occurs twice both rows
// are added or subtracted; of an update the last one stays.
template <class Self, fixed_string Name>
struct row_update : op<Self, Name> {
  static constexpr trait traits = trait::stateful | trait::writes_operand;
  static constexpr void infer(inference& f) {
    require_indices(f, 1);
    f.require(f.type(0) == f.type(2), problem::dtypes_differ);
    f.require(f.in(2) == rows_shape(f, f.in(0), f.in(1)), problem::scatter_shape);
  }
  static constexpr std::int64_t flops(const cost_query& q) { return element_count(q.in(2)); }
};

struct scatter_add : row_update<scatter_add, "scatter_add"> {};
struct scatter_sub : row_update<scatter_sub, "scatter_sub"> {};
struct scatter_update : row_update<scatter_update, "scatter_update"> {};

}  // namespace flowgraph::ops
