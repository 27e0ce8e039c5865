// One step of a constexpr model as the engine takes it: its plan, its graph, and the kernels that are compiled with it.
// Where the library's are compiled once for the program, these are of users' ops alone.
#pragma once
#include <cstdint>
#include <utility>

#include <flowgraph/kernels/cpu/binding.hpp>
#include <flowgraph/kernels/kernel_types.hpp>
#include "engine_here.hpp"
#include "library_kernels.hpp"
#include "running_ops.hpp"
#include "static_regions.hpp"

namespace flowgraph::detail {

// Every distinct use of an op in a plan. Types are packed into one word, so that a use seen before costs the constant
// evaluator one hash.
// compiled: of each instruction, is its region?
constexpr vec<kernel_use> collect_uses(const plan_view& p, const int* compiled) {
  vec<kernel_use> uses;
  hash_map seen;
  const auto is_new = [&seen](std::uint64_t op, std::uint64_t types) {
    const std::uint64_t key = mix(op, types);
    if (seen.find(key) >= 0) return false;
    seen.set(key, 1);
    return true;
  };
  for (int i = 0; i < p.instructions.count; ++i) {
    const instruction& x = p.instructions[i];
    const operand* o = p.operands.data + x.operands;
    if (x.op->is(trait::waits) || x.op->is(trait::own_kernel)) continue;  // a resource runs it, or it runs itself
    if (carries(x)) continue;                                             // engine/executable.hpp has it
    if (x.program == 0 ? compiled[i] == 0 : p.programs[x.program].role != program_role::all) {
      std::uint64_t types = x.n_outputs == 0 ? 0 : static_cast<std::uint64_t>(o[x.n_operands].type);
      for (int k = 0; k < x.n_operands && k < kernel_use::max_types; ++k)
        types = types << 8 | static_cast<std::uint64_t>(o[k].type);
      if (is_new(x.op->id, types << 8 | static_cast<unsigned>(x.n_operands))) uses.push(use_of(p, x));
    }
    if (x.program == 0 || compiled[i] != 0) continue;
    for (const program_step& s : p.steps_of(p.programs[x.program])) {
      auto types = static_cast<std::uint64_t>(s.type);
      for (int k = 0; k < s.n_inputs && k < kernel_use::max_types; ++k)
        types = types << 8 | static_cast<std::uint64_t>(register_type(p, x, p.registers[s.inputs + k]));
      if (is_new(s.op->id, types << 8 | static_cast<unsigned>(s.n_inputs))) uses.push(use_of(p, x, s));
    }
  }
  return uses;
}

// Those that this file has to have a kernel for, and the first of the others that the library has none for.
struct sorted_uses {
  vec<kernel_use> own;
  kernel_use missing{};

  constexpr sorted_uses(const plan_view& p, const int* compiled) {
    for (const kernel_use& u : collect_uses(p, compiled)) {
      const bool in_library = library_kernel_types<>.of(u.op).op != 0;
      if (in_library && !library_kernel_types<>.computes(u) && missing.op == 0) missing = u;
      if (!in_library || (!compiled_once && library_kernel_types<>.computes(u))) own.push(u);
    }
  }
};

// The kernels and regions of a plan. Regions: how this file has them, which is part of the type because another file
// may have them in another way.
template <class Plan, region_mode Regions = regions_of_this_file>
class static_kernels {
  using regions = static_regions<Plan, Regions>;
  static constexpr sorted_uses sorted() { return {Plan::plan.view(), regions::all.of}; }
  static constexpr int count = sorted().own.size();
  using indices = std::make_index_sequence<static_cast<std::size_t>(count)>;
  struct table {
    kernel_use own[count + 1]{};
    kernel_use missing{};
  };
  static constexpr table uses = [] {
    table t;
    const sorted_uses all = sorted();
    for (int i = 0; i < count; ++i) t.own[i] = all.own[i];
    t.missing = all.missing;
    return t;
  }();

  template <std::size_t... I>
  static constexpr kernel_use find_missing(std::index_sequence<I...>) {
    kernel_use found = uses.missing;
    (..., (found.op == 0 && !has_kernel<uses.own[I]>() ? void(found = uses.own[I]) : void()));
    return found;
  }
  template <std::size_t... I>
  static bound_kernel find_own(const kernel_use& wanted, std::index_sequence<I...>) {
    bound_kernel k;
    (..., (uses.own[I] == wanted ? void(k = bind_use<uses.own[I], Regions>()) : void()));
    return k;
  }
  static bound_kernel find(const kernel_use& wanted) { return find_own(wanted, indices{}); }

 public:
  // A use that has no kernel; its op is 0: all have one.
  static constexpr kernel_use missing = find_missing(indices{});

  static constexpr kernel_source source() {
    kernel_source s;
    if constexpr (count > 0) s.own = &find;
    if constexpr (compiled_once) s.library = library_kernels<typename void_when_used<Plan>::type>();
    if constexpr (regions::all.count > 0) s.region = &regions::of;
    return s;
  }
};

// Known to the engine by its address.
template <const auto& Model, class Plan, region_mode Regions = regions_of_this_file>
inline constexpr planned_step static_step{running_plan<Plan>::value.view(), running_model<Model>::value.view(),
                                          static_kernels<Plan, Regions>::source()};

}  // namespace flowgraph::detail
