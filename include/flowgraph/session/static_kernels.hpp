// The kernels of one step of a constexpr model: found while it is compiled, and compiled with it. In a program that is
// linked with flowgraph::compiled (FLOWGRAPH_COMPILED) only users' ops are; those of the library's ops come from its
// table, and so the compiler is spared all that takes it long.
#pragma once
#include <cstdint>
#include <utility>

#include <flowgraph/engine/executable.hpp>
#include <flowgraph/engine/kernel_table.hpp>
#include <flowgraph/kernels/cpu/all.hpp>
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
    if (static_cast<unsigned>(x.op->traits) & static_cast<unsigned>(trait::waits)) continue;  // without a kernel
    if (carries(x)) continue;                                                                 // executable.hpp has it
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

template <kernel_use Use>
inline constexpr bool is_builtin = contains<op_by_id<Use.op>>(all_kernels{});

// The kernels and regions of a plan, for executable.hpp to ask for.
template <class Plan>
struct static_kernels {
  static constexpr int count = collect_uses(Plan::plan.view(), static_regions<Plan>::all.of).size();
  struct table {
    kernel_use use[count + 1]{};
  };
  static constexpr table uses = [] {
    table t;
    const vec<kernel_use> all = collect_uses(Plan::plan.view(), static_regions<Plan>::all.of);
    for (int i = 0; i < count; ++i) t.use[i] = all[i];
    return t;
  }();

  // The index of a use that has no kernel; -1: all have one.
  template <std::size_t... I>
  static constexpr int missing(std::index_sequence<I...>) {
    int found = -1;
    (..., (found < 0 && !has_kernel<uses.use[I]>() ? void(found = static_cast<int>(I)) : void()));
    return found;
  }
  static constexpr int first_missing = missing(std::make_index_sequence<static_cast<std::size_t>(count)>{});

  static constexpr kernel_source source() { return {&find, &region}; }

 private:
  static region_function region(int instruction) { return static_regions<Plan>::of(instruction); }
  static bound_kernel find(const kernel_use& wanted) {
    if constexpr (kernels_are_compiled)
      if (const bound_kernel k = find_builtin(wanted)) return k;
    return find_own(wanted, std::make_index_sequence<static_cast<std::size_t>(count)>{});
  }
  template <std::size_t... I>
  static bound_kernel find_own(const kernel_use& wanted, std::index_sequence<I...>) {
    bound_kernel k;
    (..., [&] {
      if constexpr (!kernels_are_compiled || !is_builtin<uses.use[I]>)
        if (uses.use[I] == wanted) k = bind_use<uses.use[I]>();
    }());
    return k;
  }
};

}  // namespace flowgraph::detail
