// A constexpr model and its plans as a program keeps them: with ops that have lost the rules which only the compiler
// asks (shapes, gradients, rewriting), so that none of that code is in the program.
#pragma once
#include <cstdint>
#include <utility>

#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/graph/op_def.hpp>

namespace flowgraph::detail {

template <std::uint64_t Id>
inline constexpr op_def running_op = [] {
  op_def d = op_def_of<op_by_id<Id>>;
  d.infer = nullptr;
  d.gradient = nullptr;
  d.simplify = nullptr;
  d.fold = nullptr;
  return d;
}();

// The ops of some tables, each once.
class op_list {
 public:
  constexpr void add(const op_def* o) {
    if (o == nullptr || index_.find(o->id) >= 0) return;
    index_.set(o->id, ids_.push(o->id));
  }
  constexpr int index(const op_def* o) const { return index_.find(o->id); }
  constexpr int size() const { return ids_.count; }
  constexpr std::uint64_t id(int i) const { return ids_[i]; }

 private:
  vec<std::uint64_t> ids_;
  hash_map index_;
};

// Tables: has `original`, a constexpr object, and for_each_op(object, f), which calls f(pointer to op) for all of them.
template <class Tables>
class with_running_ops {
  static constexpr op_list list() {
    op_list all;
    Tables::for_each_op(Tables::original, [&](const op_def* o) { all.add(o); });
    return all;
  }
  static constexpr int count = list().size();
  struct id_table {
    std::uint64_t id[count + 1]{};
  };
  static constexpr id_table ids = [] {
    id_table t;
    const op_list all = list();
    for (int i = 0; i < count; ++i) t.id[i] = all.id(i);
    return t;
  }();

  template <int... I>
  static constexpr auto make(std::integer_sequence<int, I...>) {
    const op_def* const ops[] = {&running_op<ids.id[I]>..., nullptr};
    const op_list all = list();
    auto copy = Tables::original;
    Tables::for_each_op(copy, [&](const op_def*& o) {
      if (o != nullptr) o = ops[all.index(o)];
    });
    return copy;
  }

 public:
  static constexpr auto value = make(std::make_integer_sequence<int, count>{});
};

template <const auto& Model>
struct model_tables {
  static constexpr const auto& original = []() -> const auto& {
    if constexpr (requires { Model.unplaced; })
      return Model.unplaced;
    else
      return Model;
  }();
  template <class M, class F>
  static constexpr void for_each_op(M& m, const F& f) {
    for (int i = 0; i < Model.view().nodes.count; ++i) f(m.nodes_[i].op);
  }
};
template <const auto& Model>
using running_model = with_running_ops<model_tables<Model>>;

template <class Plan>
struct plan_tables {
  static constexpr const auto& original = Plan::plan;
  template <class P, class F>
  static constexpr void for_each_op(P& p, const F& f) {
    for (auto& x : p.instructions) f(x.op);
    for (auto& s : p.steps) f(s.op);
  }
};
template <class Plan>
using running_plan = with_running_ops<plan_tables<Plan>>;

}  // namespace flowgraph::detail
