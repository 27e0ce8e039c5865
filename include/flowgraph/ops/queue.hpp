// Queues: state that steps put elements into and take them out of. A queue is declared by a node of its own, which
// computes nothing and holds all that is true of it; the ops on it know that node by its number in the model, which no
// pass changes. The session's resources run them (trait::waits): there is no kernel.
#pragma once
#include <cstdint>

#include <flowgraph/graph/builder.hpp>

namespace flowgraph {

// What becomes of elements that wait for room when a queue is closed.
enum class pending : std::int64_t {
  finish,  // they enter when there is room
  cancel   // who waits with them gets a cancelled_error
};

}  // namespace flowgraph

namespace flowgraph::ops {

enum class queue_kind : std::int64_t { fifo, shuffle, priority };

// Of a queue; the words behind describe its components: how many, and of each its type, its rank and its extents.
struct queue_attrs {
  std::int64_t kind;
  std::int64_t capacity;
  std::int64_t min_after_dequeue;
  std::int64_t seed;
};

template <class Self, fixed_string Name>
struct resource_op : op<Self, Name> {
  static constexpr trait traits = trait::stateful | trait::waits;
  static constexpr void infer(inference&) {}
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
};

struct queue : resource_op<queue, "queue"> {};

// Every op on a resource has the number of its declaration as its first word.
// (components...): one element; with another first axis, as many as that is long.
struct enqueue : resource_op<enqueue, "enqueue"> {};
struct enqueue_many : resource_op<enqueue_many, "enqueue_many"> {};

// f.out for the components that the words describe, behind a first extent where `many`.
FLOWGRAPH_CONSTEXPR void infer_components(inference& f, bool many) {
  const std::int64_t* word = f.words() + 1;
  for (std::int64_t n = *word++; n > 0; --n) {
    extents e;
    if (many) e.push(f.declared()[0]);
    const auto type = static_cast<dtype>(*word++);
    for (std::int64_t rank = *word++; rank > 0; --rank) e.push(*word++);
    f.out(e, type);
  }
}

struct dequeue : resource_op<dequeue, "dequeue"> {
  static constexpr void infer(inference& f) { infer_components(f, false); }
};
struct dequeue_many : resource_op<dequeue_many, "dequeue_many"> {
  static constexpr void infer(inference& f) { infer_components(f, true); }
};
// With a last result that says how many rows are elements; those behind are 0.
struct dequeue_up_to : resource_op<dequeue_up_to, "dequeue_up_to"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    infer_components(f, true);
    f.out({}, dtype::int64);
  }
};

struct queue_size : resource_op<queue_size, "queue_size"> {
  static constexpr void infer(inference& f) { f.out({}, dtype::int64); }
};
struct queue_close : resource_op<queue_close, "queue_close"> {
  struct attrs {
    std::int64_t queue;
    std::int64_t pending;
  };
};

}  // namespace flowgraph::ops
