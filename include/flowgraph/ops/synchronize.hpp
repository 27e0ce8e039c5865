// How steps keep out of each other's way, or wait for each other: mutexes and barriers, which are resources as queues
// are (queue.hpp), and counters.
#pragma once
#include <cstdint>

#include "queue.hpp"

namespace flowgraph::ops {

struct mutex : resource_op<mutex, "mutex"> {};
struct mutex_acquire : resource_op<mutex_acquire, "mutex_acquire"> {};
struct mutex_release : resource_op<mutex_release, "mutex_release"> {};

struct barrier : resource_op<barrier, "barrier"> {
  struct attrs {
    std::int64_t parties;
  };
};
struct barrier_arrive : resource_op<barrier_arrive, "barrier_arrive"> {};

// Adds 1 to an integer variable and gives what it was before; at the limit it stays there, and the input is at its end.
struct count_up_to : op<count_up_to, "count_up_to"> {
  struct attrs {
    std::int64_t limit;
  };
  static constexpr trait traits = trait::stateful | trait::writes_operand;
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.type(0) == dtype::int32 || f.type(0) == dtype::int64, problem::needs_integer);
    f.require(f.in(0).rank == 0, problem::operand_rank);
    f.out({}, f.type(0));
  }
};

}  // namespace flowgraph::ops
