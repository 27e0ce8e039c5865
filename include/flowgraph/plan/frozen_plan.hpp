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

constexpr bool fits(const plan_counts& c, const plan_counts& room) {
  return c.instructions <= room.instructions && c.operands <= room.operands && c.words <= room.words &&
         c.successors <= room.successors && c.slots <= room.slots && c.variables <= room.variables &&
         c.feeds <= room.feeds && c.fetches <= room.fetches && c.constants <= room.constants &&
         c.literals <= room.literals && c.programs <= room.programs && c.steps <= room.steps &&
         c.registers <= room.registers && c.regions <= room.regions && c.shapes <= room.shapes && c.dims <= room.dims &&
         c.symbols <= room.symbols && c.chars <= room.chars && c.devices <= room.devices;
}

// A plan in tables with room to spare: made in one evaluation, before its size is known. Where Room was too small it
// holds only counts.
template <plan_counts Room>
struct roomy_plan {
  frozen_plan<Room> tables;
  plan_counts counts;
  bool complete = false;

  constexpr plan_view view() const {
    plan_view v = tables.view();
    v.instructions.count = counts.instructions;
    v.operands.count = counts.operands;
    v.words.count = counts.words;
    v.successors.count = counts.successors;
    v.slots.count = counts.slots;
    v.variables.count = counts.variables;
    v.feeds.count = counts.feeds;
    v.fetches.count = counts.fetches;
    v.constants.count = counts.constants;
    v.literals.count = counts.literals;
    v.programs.count = counts.programs;
    v.steps.count = counts.steps;
    v.registers.count = counts.registers;
    v.regions.count = counts.regions;
    v.shapes.count = counts.shapes;
    v.dims.count = counts.dims;
    v.symbols.count = counts.symbols;
    v.chars.count = counts.chars;
    v.devices.count = counts.devices;
    return v;
  }
};

// C has room for all of p.
template <plan_counts C>
constexpr void fill(frozen_plan<C>& f, const plan_view& p) {
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
}

// C is the plan's own counts().
template <plan_counts C>
constexpr frozen_plan<C> freeze(const plan_view& p) {
  frozen_plan<C> f;
  fill(f, p);
  return f;
}

// A plan to go on with. Successors are found last: there are none yet.
constexpr plan_data thaw(const plan_view& p) {
  return {.instructions = detail::vec<instruction>(p.instructions),
          .operands = detail::vec<operand>(p.operands),
          .words = detail::vec<std::int64_t>(p.words),
          .successors = {},
          .slots = detail::vec<slot>(p.slots),
          .variables = detail::vec<variable_use>(p.variables),
          .feeds = detail::vec<feed_use>(p.feeds),
          .fetches = detail::vec<operand>(p.fetches),
          .constants = detail::vec<constant_use>(p.constants),
          .literals = detail::vec<literal_use>(p.literals),
          .programs = detail::vec<program>(p.programs),
          .steps = detail::vec<program_step>(p.steps),
          .registers = detail::vec<int>(p.registers),
          .regions = detail::vec<plan_region>(p.regions),
          .shapes = detail::vec<shape_entry>(p.shapes),
          .dims = detail::vec<extent>(p.dims),
          .symbols = detail::vec<text_range>(p.symbols),
          .chars = detail::vec<char>(p.chars),
          .devices = detail::vec<text_range>(p.devices),
          .fault = p.fault};
}

template <plan_counts Room>
constexpr roomy_plan<Room> freeze_roomy(const plan_data& p) {
  roomy_plan<Room> r;
  r.counts = p.counts();
  r.complete = fits(r.counts, Room);
  if (r.complete) fill(r.tables, p.view());
  return r;
}

}  // namespace flowgraph
