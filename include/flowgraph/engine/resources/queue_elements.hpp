// What is in a queue, in the order in which it leaves: as it came, at random, or by priority.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/threads/linked_list.hpp>
#include <flowgraph/kernels/philox.hpp>
#include <flowgraph/ops/queue.hpp>

namespace flowgraph::detail {

// All components one behind the other, each aligned.
struct queue_element {
  explicit queue_element(std::size_t bytes) : data(allocate_aligned<std::byte>(bytes)) {}

  queue_element *next = nullptr, *before = nullptr;
  std::int64_t priority = 0;
  std::uint64_t turn = 0;  // among equals
  aligned_buffer<std::byte> data;
};

// Deletes those that it still has in the end.
class element_list : public linked_list<queue_element> {
 public:
  ~element_list() {
    while (!empty()) delete pop_front();
  }
};

template <class Tag = void>
class basic_queue_elements {
 public:
  basic_queue_elements(ops::queue_kind kind, std::uint64_t seed) : kind_(kind), stream_(seed, 0, 0) {}
  basic_queue_elements(const basic_queue_elements&) = delete;
  basic_queue_elements& operator=(const basic_queue_elements&) = delete;
  ~basic_queue_elements() {
    for (queue_element* e : any_order_) delete e;
  }

  std::int64_t size() const {
    return kind_ == ops::queue_kind::fifo ? in_order_.size() : static_cast<std::int64_t>(any_order_.size());
  }
  // Afterwards nothing is allocated as long as there are at most n.
  void reserve(std::int64_t n) {
    const auto wanted = static_cast<std::size_t>(n);
    if (kind_ != ops::queue_kind::fifo && any_order_.capacity() < wanted)
      any_order_.reserve(std::max(wanted, 2 * any_order_.capacity()));
  }
  void push(queue_element* e) {
    e->turn = turns_++;
    put(e, false);
  }
  // One that was taken: as if it had not been.
  void put_back(queue_element* e) { put(e, true); }
  // Not of an empty one.
  queue_element* pop() {
    if (kind_ == ops::queue_kind::fifo) return in_order_.pop_front();
    if (kind_ == ops::queue_kind::priority) {
      std::pop_heap(any_order_.begin(), any_order_.end(), later);
    } else {
      const auto n = static_cast<std::uint64_t>(any_order_.size());
      std::swap(any_order_[static_cast<std::size_t>(stream_.block(draws_++).pair(0) % n)], any_order_.back());
    }
    queue_element* e = any_order_.back();
    any_order_.pop_back();
    return e;
  }

 private:
  static bool later(const queue_element* a, const queue_element* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->turn > b->turn;
  }
  void put(queue_element* e, bool in_front) {
    if (kind_ == ops::queue_kind::fifo) return in_front ? in_order_.push_front(e) : in_order_.push_back(e);
    any_order_.push_back(e);
    if (kind_ == ops::queue_kind::priority) std::push_heap(any_order_.begin(), any_order_.end(), later);
  }

  ops::queue_kind kind_;
  element_list in_order_;
  list<queue_element*> any_order_;  // of a priority queue a heap
  random_stream stream_;
  std::uint64_t draws_ = 0, turns_ = 0;
};
using queue_elements = basic_queue_elements<>;

}  // namespace flowgraph::detail
