// The queues, mutexes and barriers that the graph of a session declares, by their node.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include <flowgraph/engine/by_node.hpp>
#include <flowgraph/ops/queue.hpp>
#include <flowgraph/ops/synchronize.hpp>
#include <flowgraph/plan/plan.hpp>
#include <flowgraph/session/resources.hpp>
#include "resource.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_resource_store {
 public:
  // shared: with other sessions, or null. find: null where the graph declares none.
  basic_resource_store(std::shared_ptr<resources> shared, resource_finder find)
      : all_(std::move(shared)),
        find_(find) {}

  void add_new(const graph_view& g, std::uint64_t seed) {
    if (find_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    for (; seen_ < g.size(); ++seen_) {
      const std::uint64_t op = g.nodes[seen_].op->id;
      if (op == ops::queue::id || op == ops::mutex::id || op == ops::barrier::id)
        by_node_.add(seen_, find_(all_, g.name_of(seen_), op, g.attrs(seen_), seed));
    }
  }
  // Of a graph that was not given to add_new, and will be gone.
  std::shared_ptr<resource> of_other_graph(const graph_view& g, int node, std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    return find_(all_, g.name_of(node), g.nodes[node].op->id, g.attrs(node), seed);
  }
  // What another store is made of that has the same.
  std::shared_ptr<resources> common() {
    const std::lock_guard lock(mutex_);
    if (all_ == nullptr) all_ = std::make_shared<resources>();
    return all_;
  }
  resource_finder finder() const { return find_; }
  std::shared_ptr<resource> of_node(int node) {
    const std::lock_guard lock(mutex_);
    return by_node_.at(node);
  }
  // For an instruction with trait::waits of a step that is told apart from others by `step`.
  std::unique_ptr<attempt> make_attempt(const plan_view& p, const instruction& x, const void* step) {
    const std::int64_t* words = p.attrs(x).data;
    const bool declares = x.op->id == ops::queue::id || x.op->id == ops::mutex::id || x.op->id == ops::barrier::id;
    return of_node(declares ? x.node : static_cast<int>(words[0]))->make_attempt(x.op->id, words, step);
  }

 private:
  std::shared_ptr<resources> all_;
  resource_finder find_;
  std::mutex mutex_;
  int seen_ = 0;
  by_node<std::shared_ptr<resource>> by_node_;
};
using resource_store = basic_resource_store<>;

}  // namespace flowgraph::detail
