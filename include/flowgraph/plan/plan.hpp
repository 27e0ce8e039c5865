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
  int parts = 1;  // of this size each, side by side
};

// The way of one value, or of the news that something is done, from one device to another. What is sent first is
// received first. In a plan that is one process's part of another one, channels keep their numbers: of one whose other
// end is elsewhere, that end is -1; where both are, nothing of it is here.
struct channel {
  int from = 0;     // device
  int to = 0;       // device
  int send = 0;     // the instruction at its beginning, and the one at its end: their only attribute is this channel
  int receive = 0;  // of the step itself if `send` is, else of the region that is the same one's part on its device
  int slot = -1;    // of the receiver; -1: news, or the receiver is elsewhere
  // Both devices have one memory: the value is read where it was made, which nobody overwrites in this step. The slot
  // is a name for that place. Otherwise what is sent goes to the slot, of which the channel has as many parts as values
  // can be on their way: a loop sends in each turn. Until it is received nobody else writes there. Outside of
  // regions the slot is the one that the recv gives; inside, the recv copies.
  bool shared = false;
};
// Why an instruction is where it is.
enum class placed : std::uint8_t {
  first,     // nothing was said: the first device
  asked,     // as its constraint says
  softly,    // no device is what its constraint says
  variable,  // where the variable is that it updates
  beside,    // where the node is that it belongs to: of a derivative, the op; of an optimizer's state, the variable
  region,    // with its loop or branch
  operands,  // where most bytes of what it reads are
  host,      // its device does not compute this: the CPU of the same task
  crossing   // it takes something from one device to another, or waits for that
};

// Of a channel in a loop or a branch: how many turns its two ends may be apart, and the parts of its slot.
inline constexpr int turns_on_the_way = 2;

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
  std::int64_t word = 0;
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

// What a rule requires of named extents: whole - part >= least.
struct extent_check {
  extent whole = 0;
  extent part = 0;
  std::int64_t least = 0;
  problem otherwise = problem::none;
  int node = 0;  // of the model
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

// The tables of a plan: what a row is, and the name. All that goes over them is made of this list, so that none is
// forgotten and none taken for another.
// clang-format off
#define FLOWGRAPH_PLAN_TABLES(table) \
  table(instruction, instructions)                                                       \
  table(operand, operands)                                                               \
  table(std::int64_t, words)                                                             \
  table(int, successors)                                                                 \
  table(slot, slots)                                                                     \
  table(variable_use, variables)                                                         \
  table(feed_use, feeds)                                                                 \
  table(operand, fetches)  /* a variable is read when the step ends */                   \
  table(constant_use, constants)                                                         \
  table(literal_use, literals)                                                           \
  table(program, programs)  /* [0] is unused */                                          \
  table(program_step, steps)                                                             \
  table(int, registers)                                                                  \
  table(plan_region, regions)  /* [0] is the step itself */                              \
  table(shape_entry, shapes)                                                             \
  table(extent, dims)  /* numbers, or -1-k for symbol k */                               \
  table(text_range, symbols)                                                             \
  table(extent_check, checks)                                                            \
  table(char, chars)                                                                     \
  table(text_range, devices)                                                             \
  table(channel, channels)                                                               \
  table(placed, reasons)  /* of each instruction; empty where no device was asked for */
// clang-format on

struct plan_counts {
#define FLOWGRAPH_COUNT(row, name) int name = 0;
  FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_COUNT)
#undef FLOWGRAPH_COUNT
};

constexpr bool fits(const plan_counts& c, const plan_counts& room) {
#define FLOWGRAPH_FITS(row, name) &&c.name <= room.name
  return true FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_FITS);
#undef FLOWGRAPH_FITS
}

// Reads a plan, wherever its tables live.
struct plan_view {
#define FLOWGRAPH_SLICE(row, name) detail::slice<row> name;
  FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_SLICE)
#undef FLOWGRAPH_SLICE
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
  // What goes through a channel, as one of its ends here has it; null: news, or no end is here.
  constexpr const operand* carried_by(const channel& c) const {
    if (c.send >= 0) return instructions[c.send].n_operands == 0 ? nullptr : &operands[instructions[c.send].operands];
    if (c.receive < 0 || instructions[c.receive].n_outputs == 0) return nullptr;
    return &operands[instructions[c.receive].operands];
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
#define FLOWGRAPH_VEC(row, name) detail::vec<row> name;
  FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_VEC)
#undef FLOWGRAPH_VEC
  plan_fault fault;

  constexpr plan_view view() const {
#define FLOWGRAPH_VIEW(row, name) .name = name,
    return {FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_VIEW).fault = fault};
#undef FLOWGRAPH_VIEW
  }
  constexpr plan_counts counts() const {
#define FLOWGRAPH_SIZE(row, name) .name = name.size(),
    return {FLOWGRAPH_PLAN_TABLES(FLOWGRAPH_SIZE)};
#undef FLOWGRAPH_SIZE
  }
};

}  // namespace flowgraph
