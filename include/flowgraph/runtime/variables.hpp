// The state of a session: every variable's memory, and how it begins. A variable's first value depends on the seed
// and its name alone: not on its place in the graph, on threads or on the machine.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include <flowgraph/dsl/init.hpp>
#include <flowgraph/kernels/cpu/sources.hpp>
#include <flowgraph/kernels/distributions.hpp>
#include "ndarray.hpp"
#include "text.hpp"
#include "variable_lock.hpp"

namespace flowgraph::detail {

struct variable_state {
  int node = -1;
  dtype type = dtype::none;
  std::vector<std::int64_t> dims;
  std::int64_t size = 1;
  aligned_buffer<std::byte> data;
  variable_lock lock;

  std::size_t bytes() const { return static_cast<std::size_t>(size) * static_cast<std::size_t>(size_of(type)); }
};

// Inputs and outputs of one unit: the last two extents, times what lies before them (the window of a filter).
struct fan {
  double in = 1, out = 1;

  explicit fan(const std::vector<std::int64_t>& dims) {
    if (dims.size() == 1) in = out = static_cast<double>(dims[0]);
    if (dims.size() < 2) return;
    double window = 1;
    for (std::size_t i = 0; i + 2 < dims.size(); ++i) window *= static_cast<double>(dims[i]);
    in = window * static_cast<double>(dims[dims.size() - 2]);
    out = window * static_cast<double>(dims[dims.size() - 1]);
  }
};

template <class T>
void fill_initial(T* to, std::int64_t n, const random_stream& stream, initial_value initial, const fan& units) {
  const auto uniform = [&](double low, double high) {
    if constexpr (!std::is_same_v<T, bool>) fill_uniform(stream, to, n, low, high);
  };
  const auto normal = [&](double mean, double deviation) {
    if constexpr (is_floating(dtype_of<T>)) fill_normal(stream, to, n, mean, deviation);
  };
  const auto within = [&](double variance) { uniform(-std::sqrt(3 * variance), std::sqrt(3 * variance)); };
  const auto around = [&](double variance) { normal(0, std::sqrt(variance)); };
  switch (initial.kind) {
    case initializer::constant:
      std::fill_n(to, n, convert<T>(initial.a));
      break;
    case initializer::uniform:
      uniform(initial.a, initial.b);
      break;
    case initializer::normal:
      normal(initial.a, initial.b);
      break;
    case initializer::truncated_normal:
      if constexpr (is_floating(dtype_of<T>)) fill_truncated_normal(stream, to, n, initial.a, initial.b);
      break;
    case initializer::glorot_uniform:
      within(2 / (units.in + units.out));
      break;
    case initializer::glorot_normal:
      around(2 / (units.in + units.out));
      break;
    case initializer::he_uniform:
      within(2 / units.in);
      break;
    case initializer::he_normal:
      around(2 / units.in);
      break;
    case initializer::lecun_uniform:
      within(1 / units.in);
      break;
    case initializer::lecun_normal:
      around(1 / units.in);
      break;
  }
}

// A variable that somebody works with.
struct variable_access {
  variable_state* variable;
  bool writes;
};

// Holds variables while it lives. They are locked in the order of their nodes, so nobody waits in a circle.
class variable_hold {
 public:
  // all: each variable once, in the order of nodes. Throws when the limits say so.
  variable_hold(waiting_room& room, std::span<const variable_access> all, const step_limits* within = nullptr)
      : room_(room),
        held_(all.first(0)) {
    try {
      for (; held_.size() < all.size(); held_ = all.first(held_.size() + 1))
        all[held_.size()].variable->lock.lock(room, all[held_.size()].writes, within);
    } catch (...) {
      release();
      throw;
    }
  }
  variable_hold(const variable_hold&) = delete;
  variable_hold& operator=(const variable_hold&) = delete;
  ~variable_hold() { release(); }

 private:
  void release() {
    for (const variable_access& a : held_) a.variable->lock.unlock(room_, a.writes);
  }

  waiting_room& room_;
  std::span<const variable_access> held_;
};

class variable_store {
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
  // When no step uses any of them.
  void initialize(const graph_view& g, std::uint64_t seed) {
    const std::lock_guard lock(growing_);
    std::vector<variable_access> everything;
    for (const auto& v : all_) everything.push_back({v.get(), true});
    const variable_hold hold(room, everything);
    for (const auto& v : all_) begin(g, *v, seed);
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
    const bool draws = initial.kind != initializer::constant;
    if (draws && !is_floating(v.type) && (initial.kind != initializer::uniform || v.type == dtype::boolean))
      throw argument_error(problem::needs_floating,
                           fmt::format("variable {}: {} can't begin with random numbers of this kind",
                                       label_of(g, v.node), type_text(g, v.node)));
    const std::string_view name = g.name_of(v.node);
    const random_stream stream(seed, name.empty() ? static_cast<std::uint64_t>(v.node) : hash(name), 0);
    with_type(v.type, [&]<class T>(T) {
      fill_initial(reinterpret_cast<T*>(v.data.get()), v.size, stream, initial, fan(v.dims));
    });
  }

  std::mutex growing_;
  int seen_ = 0;
  std::vector<std::unique_ptr<variable_state>> all_;  // in the order of their nodes
  std::unordered_map<int, variable_state*> by_node_;
};

}  // namespace flowgraph::detail
