// The element-wise regions of a plan that the compiler made, as types of kernels/cpu/compiled_region.hpp. A region is
// known by what it does, not by where it stands: the twentieth equal layer costs nothing more to compile.
#pragma once
#include <cstdint>
#include <utility>

#include <flowgraph/core/hash.hpp>
#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/kernels/cpu/compiled_region.hpp>
#include <flowgraph/plan/plan.hpp>
#include "static_regions.hpp"

namespace flowgraph::detail {

// What a type of compiled_region is made of.
struct region_description {
  struct step {
    std::uint64_t op = 0;
    dtype type = dtype::none;
    int in[4]{};
    int n_in = 0;
  };
  struct operand_use {
    dtype type = dtype::none;
    operand_walk how = operand_walk::unread;
  };

  bool compiles = false;
  dtype numbers = dtype::none;
  int inner_axes = 0;
  int n_operands = 0;
  int n_steps = 0;
  operand_use operands[max_region_operands]{};
  step steps[max_program_steps]{};

  constexpr std::uint64_t key() const {
    std::uint64_t h = mix(static_cast<std::uint64_t>(numbers), static_cast<std::uint64_t>(inner_axes));
    for (int k = 0; k < n_operands; ++k)
      h = mix(h, static_cast<std::uint64_t>(operands[k].type) << 8 | static_cast<std::uint64_t>(operands[k].how));
    for (int s = 0; s < n_steps; ++s) {
      h = mix(mix(h, steps[s].op), static_cast<std::uint64_t>(steps[s].type));
      for (int i = 0; i < steps[s].n_in; ++i) h = mix(h, static_cast<std::uint64_t>(steps[s].in[i] + 64));
    }
    return h;
  }
};

class region_reader {
 public:
  constexpr region_reader(const plan_view& p, const instruction& x) : p_(p), x_(x) {
    value_ = p.region_value(x);
    result.compiles = value_.type == dtype::boolean || is_lane_type(value_.type);
    if (x.program == 0)
      read_op();
    else
      for (const program_step& s : p.steps_of(p.programs[x.program])) {
        known(*s.op);
        region_description::step& to = result.steps[result.n_steps++];
        to = {s.op->id, s.type, {}, s.n_inputs};
        for (int i = 0; i < s.n_inputs; ++i) to.in[i] = p.registers[s.inputs + i];
      }
    result.n_operands = x.n_operands + x.n_outputs;
    for (int s = 0; s < result.n_steps && result.compiles; ++s) read(result.steps[s]);
    result.compiles = result.compiles && result.numbers != dtype::none;
  }

  region_description result;

 private:
  static constexpr bool is_lane_type(dtype t) { return t == dtype::float32 || t == dtype::float64; }

  constexpr void known(const op_def& op) {
    if (!op.is(trait::has_function) && op.id != ops::cast::id) result.compiles = false;
  }
  // An element-wise op that stands alone.
  constexpr void read_op() {
    known(*x_.op);
    region_description::step& to = result.steps[result.n_steps++];
    to = {x_.op->id, value_.type, {}, x_.n_operands};
    for (int i = 0; i < x_.n_operands; ++i) to.in[i] = -1 - i;
  }
  constexpr void read(const region_description::step& s) {
    number(s.type);
    for (int i = 0; i < s.n_in; ++i)
      if (s.in[i] < 0) read_operand(-1 - s.in[i]);
  }
  // All numbers are of one type.
  constexpr void number(dtype t) {
    if (t == dtype::boolean) return;
    if (!is_lane_type(t) || (result.numbers != dtype::none && result.numbers != t)) result.compiles = false;
    result.numbers = t;
  }
  constexpr void read_operand(int k) {
    region_description::operand_use& use = result.operands[k];
    if (use.how != operand_walk::unread) return;
    const operand& o = p_.operands[x_.operands + k];
    use = {o.type, walk_of(o.shape)};
    number(o.type);
    if (use.how == operand_walk::scattered) result.compiles = false;
  }

  constexpr operand_walk walk_of(int shape) {
    if (shape == value_.shape) return operand_walk::whole;
    const slice<extent> own = p_.dims_of(shape), all = p_.dims_of(value_.shape);
    bool has_part = false, is_repeated = false, last_repeated = false;
    int turn = 0;  // the first axis from the back that is walked in another way than those behind it
    for (int i = 0; i < all.count; ++i) {
      const extent e = all[all.count - 1 - i];
      if (e == 1) continue;
      const bool repeated = i >= own.count || own[own.count - 1 - i] == 1;
      if ((has_part || is_repeated) && repeated != last_repeated) {
        if (turn != 0) return operand_walk::scattered;
        turn = i;
      }
      last_repeated = repeated;
      has_part = has_part || !repeated;
      is_repeated = is_repeated || repeated;
    }
    if (!has_part) return operand_walk::one;
    if (!is_repeated) return operand_walk::whole;
    if (result.inner_axes != 0 && result.inner_axes != turn) return operand_walk::scattered;
    result.inner_axes = turn;
    return last_repeated ? operand_walk::row : operand_walk::column;
  }

  const plan_view& p_;
  const instruction& x_;
  operand value_{};
};

constexpr region_description describe_region(const plan_view& p, const instruction& x) {
  return region_reader(p, x).result;
}

// Which instructions have a compiled region, and which of them are equal.
struct region_list {
  vec<int> first;  // of each distinct region: the first instruction that has it
  vec<int> of;     // of each instruction: its region + 1; 0: none
};

constexpr region_list collect_regions(const plan_view& p) {
  region_list list;
  list.of = vec<int>(p.instructions.count);
  hash_map seen;
  for (int i = 0; i < p.instructions.count; ++i) {
    const instruction& x = p.instructions[i];
    if (x.program == 0 && (!x.op->is(trait::elementwise) || x.n_outputs != 1)) continue;
    const region_description d = describe_region(p, x);
    if (!d.compiles) continue;
    const std::uint64_t key = d.key();
    int found = seen.find(key);
    if (found < 0) seen.set(key, found = list.first.push(i));
    list.of[i] = found + 1;
  }
  return list;
}

template <dtype Type>
struct region_element {
  using type = type_of<Type>;
};
template <>
struct region_element<dtype::none> {  // of an operand that the region does not read
  using type = void;
};

template <class Plan, int Instruction>
struct region_of {
 private:
  static constexpr region_description d =
      describe_region(Plan::plan.view(), Plan::plan.view().instructions[Instruction]);

  template <int S, class Inputs>
  struct step;
  template <int S, int... I>
  struct step<S, std::integer_sequence<int, I...>> {
    using type = region_step<op_by_id<d.steps[S].op>, type_of<d.steps[S].type>, d.steps[S].in[I]...>;
  };
  template <int... K>
  static auto operands(std::integer_sequence<int, K...>)
      -> region_parts<region_operand<typename region_element<d.operands[K].type>::type, d.operands[K].how>...>;
  template <int... S>
  static auto steps(std::integer_sequence<int, S...>)
      -> region_parts<typename step<S, std::make_integer_sequence<int, d.steps[S].n_in>>::type...>;

 public:
  using type = compiled_region<type_of<d.numbers>, d.inner_axes,
                               decltype(operands(std::make_integer_sequence<int, d.n_operands>{})),
                               decltype(steps(std::make_integer_sequence<int, d.n_steps>{}))>;
};

template <class Plan>
struct static_regions<Plan, region_mode::compiled> {
  static constexpr int instructions = Plan::plan.view().instructions.count;
  struct table {
    int of[instructions + 1]{};
    int first[instructions + 1]{};
    int count = 0;
  };
  static constexpr table all = [] {
    table t;
    const region_list list = collect_regions(Plan::plan.view());
    for (int i = 0; i < instructions; ++i) t.of[i] = list.of[i];
    for (int i = 0; i < list.first.count; ++i) t.first[i] = list.first[i];
    t.count = list.first.count;
    return t;
  }();

  // Null: instruction i has no region, or one that is not compiled.
  static region_function of(int i) {
    static constexpr auto functions = make_functions(std::make_integer_sequence<int, all.count>{});
    return functions.at[all.of[i]];
  }

 private:
  struct function_table {
    region_function at[all.count + 1]{};
  };
  template <int... R>
  static constexpr function_table make_functions(std::integer_sequence<int, R...>) {
    return {{nullptr, &region_of<Plan, all.first[R]>::type::compute...}};
  }
};

}  // namespace flowgraph::detail
