// Which nodes run together as one instruction: what fuse decides, and order and lower follow.
#pragma once
#include <flowgraph/core/vec.hpp>

namespace flowgraph::passes {

struct fusion {
  struct group {
    int root;   // the node whose value leaves the group
    int first;  // element-wise member with the lowest id
    int size;   // element-wise members
    int op;     // the member that is not element-wise: before the others, or the root behind them; -1: none
    int shape;  // of the element-wise members
  };
  detail::vec<int> of;        // of each node: its group, 0: runs alone
  detail::vec<int> next;      // of each element-wise member: the one behind it, in order of ids; of the last: -1
  detail::vec<group> groups;  // [0] is unused
  int fused = 0;              // groups that have more than one member
};

// Every node runs alone.
constexpr fusion no_fusion(int nodes) {
  fusion f;
  f.of = detail::vec<int>(nodes);
  f.next = detail::vec<int>(nodes);
  f.groups.push({});
  return f;
}

}  // namespace flowgraph::passes
