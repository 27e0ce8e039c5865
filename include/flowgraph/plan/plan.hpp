// What devices run: ordered instructions over slots of memory, with the tables they point into. Plain data that
// passes/lower.hpp makes, a session freezes or keeps, and an executor walks. Nothing here refers to the graph except
// node ids for names and messages.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/core/problem.hpp>
#include <flowgraph/graph/node.hpp>

namespace flowgraph {

// Where a value lives while a step runs, and what an operand's index counts.
enum class storage : std::uint8_t {
  none,      // an operation: nothing
  slot,      // memory of a device, planned: slots
  variable,  // state: variables
  feed,      // what the caller gave: feeds
  constant,  // one number that stands for all elements: constants
  literal    // elements that the model holds: literals
};

// Operands and instructions have no default values: arrays of them cost the constant evaluator nothing to make.
struct operand {
  storage where;
  dtype type;
  int index;
  int shape;
};

struct instruction {
  const op_def* op;
  int node;      // of the model
  int device;    // index into the session's list of devices
  int region;    // the region it belongs to; 0 is the step itself
  int operands;  // first of n_operands, followed by n_outputs
  int n_operands;
  int n_outputs;
  int attrs;  // first of n_attrs words
  int n_attrs;
  int program;       // the element-wise steps that it runs; 0: none
  int first_region;  // first of n_regions that it runs
  int n_regions;
  int in_place;      // the operand whose slot the first output takes over; -1: none
  int predecessors;  // how many instructions of the same region must be done before it starts
  int successors;    // first of n_successors: who waits for it
  int n_successors;
};

// Memory that values share one after another. Its size is `bytes` times `by`: a symbol, or 1 where the size is known.
struct slot {
  std::int64_t bytes = 0;
  extent by = 1;
  int device = 0;
};

struct variable_use {
  int node = 0;  // of the model
  int shape = 0;
  int device = 0;
  dtype type = dtype::none;
  bool written = false;
};

struct feed_use {
  int node = 0;  // of the model
  int shape = 0;
  int device = 0;
  dtype type = dtype::none;
};

struct constant_use {
  double value = 0;
  dtype type = dtype::none;
};

struct literal_use {
  int words = 0;  // first of n_words, one for each element
  int n_words = 0;
  int shape = 0;
  dtype type = dtype::none;
};

// What an instruction's program is to its op.
enum class program_role : std::uint8_t {
  all,    // there is no other op: ops::fused
  after,  // the op writes its result, then the program overwrites it, both part by part
  before  // the program's value is an operand of the op, which has a shape but no memory (storage::none)
};

// Element-wise steps, one after the other for each element; what the last one gives is the program's value. A step
// reads registers: r >= 0 is what step r gave, -1-k is operand k of the instruction, broadcast to the shape of the
// value. Results follow the operands, so that -1-n_operands is what the op itself has just written.
struct program {
  int steps = 0;  // first of n_steps
  int n_steps = 0;
  program_role role = program_role::all;
  int own = 0;    // how many operands the op itself has: the first ones
  int value = 0;  // which operand or result of the instruction it computes
};

struct program_step {
  const op_def* op = nullptr;
  int inputs = 0;  // first of n_inputs registers
  int n_inputs = 0;
  int attrs = 0;
  int n_attrs = 0;
  dtype type = dtype::none;
};

inline constexpr int max_program_steps = 24;
inline constexpr int max_program_operands = 16;
inline constexpr int max_region_operands =
    max_program_operands + 8;  // with those that the op itself reads, and results

// Instructions that another one runs. They stand together, before their owner: its entry, which is a switch or an
// enter, then the regions, each with a switch, next_iteration or merge at its end, then the owner, a merge or an exit.
// What enters unchanged is read where it is; what a loop carries lives in the memory of the loop's results.
struct plan_region {
  int owner = -1;  // instruction
  int entry = 0;   // instruction
  int first = 0;   // instructions, those of regions inside included
  int count = 0;
};

// The first thing that keeps a plan from being made, and the model's node it concerns.
struct plan_fault {
  problem why = problem::none;
  int node = -1;
};

struct plan_counts {
  int instructions = 0, operands = 0, words = 0, successors = 0, slots = 0, variables = 0, feeds = 0, fetches = 0,
      constants = 0, literals = 0, programs = 0, steps = 0, registers = 0, regions = 0, shapes = 0, dims = 0,
      symbols = 0, chars = 0, devices = 0;
};

// Reads a plan, wherever its tables live.
struct plan_view {
  detail::slice<instruction> instructions;
  detail::slice<operand> operands;
  detail::slice<std::int64_t> words;
  detail::slice<int> successors;
  detail::slice<slot> slots;
  detail::slice<variable_use> variables;
  detail::slice<feed_use> feeds;
  detail::slice<operand> fetches;  // a variable is read when the step ends
  detail::slice<constant_use> constants;
  detail::slice<literal_use> literals;
  detail::slice<program> programs;  // [0] is unused
  detail::slice<program_step> steps;
  detail::slice<int> registers;
  detail::slice<plan_region> regions;  // [0] is the step itself
  detail::slice<shape_entry> shapes;
  detail::slice<extent> dims;  // numbers, or -1-k for symbol k
  detail::slice<text_range> symbols;
  detail::slice<char> chars;
  detail::slice<text_range> devices;
  plan_fault fault;

  constexpr detail::slice<operand> inputs(const instruction& i) const {
    return {operands.data + i.operands, i.n_operands};
  }
  constexpr detail::slice<operand> outputs(const instruction& i) const {
    return {operands.data + i.operands + i.n_operands, i.n_outputs};
  }
  constexpr detail::slice<std::int64_t> attrs(const instruction& i) const { return {words.data + i.attrs, i.n_attrs}; }
  constexpr detail::slice<int> next(const instruction& i) const {
    return {successors.data + i.successors, i.n_successors};
  }
  constexpr detail::slice<program_step> steps_of(const program& p) const { return {steps.data + p.steps, p.n_steps}; }
  // What the element-wise part of an instruction computes.
  constexpr const operand& region_value(const instruction& i) const {
    return operands[i.operands + (i.program == 0 ? i.n_operands : programs[i.program].value)];
  }
  constexpr detail::slice<extent> dims_of(int shape) const {
    return {dims.data + shapes[shape].dims, shapes[shape].rank};
  }
  constexpr std::string_view text(text_range r) const { return detail::text_view(chars.data + r.begin, r.length); }
  constexpr std::string_view symbol_text(extent e) const { return text(symbols[static_cast<int>(-1 - e)]); }
};

// A plan being made.
struct plan_data {
  detail::vec<instruction> instructions;
  detail::vec<operand> operands;
  detail::vec<std::int64_t> words;
  detail::vec<int> successors;
  detail::vec<slot> slots;
  detail::vec<variable_use> variables;
  detail::vec<feed_use> feeds;
  detail::vec<operand> fetches;
  detail::vec<constant_use> constants;
  detail::vec<literal_use> literals;
  detail::vec<program> programs;
  detail::vec<program_step> steps;
  detail::vec<int> registers;
  detail::vec<plan_region> regions;
  detail::vec<shape_entry> shapes;
  detail::vec<extent> dims;
  detail::vec<text_range> symbols;
  detail::vec<char> chars;
  detail::vec<text_range> devices;
  plan_fault fault;

  constexpr plan_view view() const {
    return {instructions, operands, words,     successors, slots,  variables, feeds,   fetches, constants, literals,
            programs,     steps,    registers, regions,    shapes, dims,      symbols, chars,   devices,   fault};
  }
  constexpr plan_counts counts() const {
    return {instructions.size(), operands.size(), words.size(),     successors.size(), slots.size(),
            variables.size(),    feeds.size(),    fetches.size(),   constants.size(),  literals.size(),
            programs.size(),     steps.size(),    registers.size(), regions.size(),    shapes.size(),
            dims.size(),         symbols.size(),  chars.size(),     devices.size()};
  }
};

}  // namespace flowgraph
