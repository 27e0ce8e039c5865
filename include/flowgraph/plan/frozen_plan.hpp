// A plan as arrays of exactly its size: what a session<model> keeps as static data.
#pragma once
#include "plan.hpp"

namespace flowgraph {

// One element more than needed, because an array can't be empty.
template <plan_counts C>
struct frozen_plan {
  instruction instructions[C.instructions + 1]{};
  operand operands[C.operands + 1]{};
  std::int64_t words[C.words + 1]{};
  int successors[C.successors + 1]{};
  slot slots[C.slots + 1]{};
  variable_use variables[C.variables + 1]{};
  feed_use feeds[C.feeds + 1]{};
  operand fetches[C.fetches + 1]{};
  constant_use constants[C.constants + 1]{};
  literal_use literals[C.literals + 1]{};
  program programs[C.programs + 1]{};
  program_step steps[C.steps + 1]{};
  int registers[C.registers + 1]{};
  plan_region regions[C.regions + 1]{};
  shape_entry shapes[C.shapes + 1]{};
  extent dims[C.dims + 1]{};
  text_range symbols[C.symbols + 1]{};
  char chars[C.chars + 1]{};
  text_range devices[C.devices + 1]{};
  plan_fault fault;

  constexpr plan_view view() const {
    return {{instructions, C.instructions},
            {operands, C.operands},
            {words, C.words},
            {successors, C.successors},
            {slots, C.slots},
            {variables, C.variables},
            {feeds, C.feeds},
            {fetches, C.fetches},
            {constants, C.constants},
            {literals, C.literals},
            {programs, C.programs},
            {steps, C.steps},
            {registers, C.registers},
            {regions, C.regions},
            {shapes, C.shapes},
            {dims, C.dims},
            {symbols, C.symbols},
            {chars, C.chars},
            {devices, C.devices},
            fault};
  }
};

namespace detail {

template <class T>
constexpr void copy_rows(T* to, slice<T> from) {
  for (int i = 0; i < from.count; ++i) to[i] = from.data[i];
}

}  // namespace detail

// C is the plan's own counts().
template <plan_counts C>
constexpr frozen_plan<C> freeze(const plan_view& p) {
  frozen_plan<C> f;
  detail::copy_rows(f.instructions, p.instructions);
  detail::copy_rows(f.operands, p.operands);
  detail::copy_rows(f.words, p.words);
  detail::copy_rows(f.successors, p.successors);
  detail::copy_rows(f.slots, p.slots);
  detail::copy_rows(f.variables, p.variables);
  detail::copy_rows(f.feeds, p.feeds);
  detail::copy_rows(f.fetches, p.fetches);
  detail::copy_rows(f.constants, p.constants);
  detail::copy_rows(f.literals, p.literals);
  detail::copy_rows(f.programs, p.programs);
  detail::copy_rows(f.steps, p.steps);
  detail::copy_rows(f.registers, p.registers);
  detail::copy_rows(f.regions, p.regions);
  detail::copy_rows(f.shapes, p.shapes);
  detail::copy_rows(f.dims, p.dims);
  detail::copy_rows(f.symbols, p.symbols);
  detail::copy_rows(f.chars, p.chars);
  detail::copy_rows(f.devices, p.devices);
  f.fault = p.fault;
  return f;
}

}  // namespace flowgraph
