// The state of a session: every variable's memory, and how it begins. A variable's first value depends on the seed
// and its name alone: not on its place in the graph, on threads or on the machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/engine/text.hpp>
#include <flowgraph/kernels/cpu/sources.hpp>
#include "fill_initial.hpp"
#include "variable_lock.hpp"

namespace flowgraph::detail {

struct variable_state {
  int node = -1;
  dtype type = dtype::none;
  std::vector<std::int64_t> dims;
  std::int64_t size = 1;
  aligned_buffer<std::byte> data;
  variable_lock lock;
  std::uint64_t version = 0;  // counts who held it to change it

  std::size_t bytes() const { return static_cast<std::size_t>(size) * static_cast<std::size_t>(size_of(type)); }
  array_view view() const { return {data.get(), dims.data(), static_cast<int>(dims.size()), type}; }
};

// A variable that somebody works with.
struct variable_access {
  variable_state* variable;
  bool writes;
};

// Holds variables while it lives. They are locked in the order of their nodes, so nobody waits in a circle.
template <class Tag = void>
class basic_variable_hold {
 public:
  // all: each variable once, in the order of nodes. Throws when the limits say so.
  basic_variable_hold(waiting_room& room, std::span<const variable_access> all, const step_limits* within = nullptr)
      : room_(room),
        all_(all),
        held_(all.first(0)) {
    take(within);
  }
  // Takes nothing yet.
  basic_variable_hold(waiting_room& room, std::span<const variable_access> all, std::defer_lock_t)
      : room_(room),
        all_(all),
        held_(all.first(0)) {}
  basic_variable_hold(const basic_variable_hold&) = delete;
  basic_variable_hold& operator=(const basic_variable_hold&) = delete;
  ~basic_variable_hold() { release(); }

  // A step that waits for another one lets its variables go, and takes them again.
  void release() {
    for (const variable_access& a : held_) {
      if (a.writes) ++a.variable->version;
      a.variable->lock.unlock(room_, a.writes);
    }
    held_ = all_.first(0);
  }
  void take(const step_limits* within) {
    try {
      for (; held_.size() < all_.size(); held_ = all_.first(held_.size() + 1))
        all_[held_.size()].variable->lock.lock(room_, all_[held_.size()].writes, within);
    } catch (...) {
      release();
      throw;
    }
  }

 private:
  waiting_room& room_;
  std::span<const variable_access> all_, held_;
};
using variable_hold = basic_variable_hold<>;

template <class Tag = void>
class basic_variable_store {
 public:
  // Makes and initialises the variables that the graph has and the store has not: a graph may grow between steps.
  void add_new(const graph_view& g, std::uint64_t seed) {
    const std::lock_guard lock(growing_);
    for (; seen_ < g.size(); ++seen_) {
      if (g.nodes[seen_].op->id != ops::variable::id) continue;
      auto v = std::make_unique<variable_state>();
      v->node = seen_;
      v->type = g.nodes[seen_].type;
      const extents e = g.shape_of(seen_);
      for (int i = 0; i < e.rank; ++i) {
        v->dims.push_back(e[i]);
        v->size *= e[i];
      }
      v->data = allocate_aligned<std::byte>(v->bytes());
      begin(g, *v, seed);
      by_node_[seen_] = v.get();
      all_.push_back(std::move(v));
    }
  }
  // f(all variables, in the order of their nodes) while nobody changes any of them; or, if it writes, uses any.
  template <class F>
  auto with_all(bool writes, const F& f) {
    std::vector<variable_access> everything;
    {
      const std::lock_guard lock(growing_);
      for (const auto& v : all_) everything.push_back({v.get(), writes});
    }
    const variable_hold hold(room, everything);
    return f(std::span<const variable_access>(everything));
  }
  static void begin_again(const graph_view& g, std::span<const variable_access> all, std::uint64_t seed) {
    for (const variable_access& a : all) begin(g, *a.variable, seed);
  }

  // Stays where it is.
  variable_state& of_node(int node) {
    const std::lock_guard lock(growing_);
    return *by_node_.at(node);
  }

  waiting_room room;

 private:
  static void begin(const graph_view& g, variable_state& v, std::uint64_t seed) {
    const auto a = attrs_from_words<ops::variable::attrs>(g.attrs(v.node).data);
    const initial_value initial{static_cast<initializer>(a.initializer), a.a, a.b};
    const std::string_view name = g.name_of(v.node);
    const random_stream stream(seed, name.empty() ? static_cast<std::uint64_t>(v.node) : hash(name), 0);
    with_type(v.type, [&]<class T>(T) {
      T* const to = reinterpret_cast<T*>(v.data.get());
      if (initial.kind != initializer::values) return fill_initial(to, v.dims, v.size, stream, initial);
      const std::int64_t* word = g.attrs(v.node).data + attr_words<ops::variable::attrs>;
      for (std::int64_t i = 0; i < v.size; ++i) to[i] = from_word<T>(word[i]);
    });
  }

  std::mutex growing_;
  int seen_ = 0;
  std::vector<std::unique_ptr<variable_state>> all_;  // in the order of their nodes
  std::unordered_map<int, variable_state*> by_node_;
};
using variable_store = basic_variable_store<>;

}  // namespace flowgraph::detail
