// What the graph knows of an op: a name with its rules attached. An op is a struct (see ops/); define_op derives
// this plain record from it, and nodes point to it. There is no central list: a user's op is like any other.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <flowgraph/core/fixed_string.hpp>
#include <flowgraph/core/hash.hpp>

namespace flowgraph {

class inference;
class gradient_step;
class rewriter;
class cost_query;
struct kernel_args;

enum class trait : std::uint32_t {
  none = 0,
  elementwise = 1,       // out[i] depends on in[i] alone, operands broadcast: may be fused
  view = 2,              // the same bytes under another shape: shares its operand's buffer
  stateful = 4,          // reads or writes what outlives the step: never merged or folded
  random = 8,            // draws numbers: never merged
  commutative = 16,      // operands may be swapped
  zero_gradient = 32,    // locally constant: carries no gradient by definition
  source = 64,           // placeholder, variable, constant: computes nothing
  in_place = 128,        // may overwrite its first operand's buffer when that dies here
  writes_operand = 256,  // updates the variable that is its first operand
  iterates = 512,        // runs its regions again and again: the first inputs, one for each result, are carried
  // Set by define_op for ops that have the member. Asked instead of comparing the function with null, which is no
  // constant expression for g++ under its sanitizers.
  shape_preserving = 1024,  // operands of one type and shape, or scalars, give that type and shape
  update_of_equals = 2048,  // an operation that is valid where all operands have one type and shape
  has_gradient = 4096,
  has_simplify = 8192,
  has_fold = 16384,
  has_flops = 32768,
  has_function = 65536,  // element-wise by one scalar function
  // How an op may share an instruction with the element-wise nodes beside it.
  finishes = 131072,       // its kernels go on with its result, part by part: kernel_args::finish
  absorbs = 262144,        // its kernels read the last operand once, in parts that may be computed just then
  reads_extents = 524288,  // and no elements: its operand need not be there
  waits = 1048576,         // a resource of the session runs it, when its turn comes: queues, mutexes, barriers
  own_kernel = 2097152,    // it is its own kernel: op_def::kernel. Set by define_op, too
  bounded = 4194304  // its rule asks for room (inference::require_room), which named extents have or lack when bound
};

constexpr trait operator|(trait a, trait b) {
  return static_cast<trait>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

struct op_def {
  std::string_view name;
  std::uint64_t id = 0;  // hash of the name
  trait traits = trait::none;
  // The shape and type rule.
  void (*infer)(inference&) = nullptr;
  // Null: the op has no gradient.
  void (*gradient)(gradient_step&) = nullptr;
  // Finds an equal, cheaper form of one node; null: none known.
  int (*simplify)(rewriter&) = nullptr;
  // The value on scalars that are known at compile time; null: can't be folded.
  double (*fold)(const double* operands) = nullptr;
  // Floating-point operations of one node; null: one per result element.
  std::int64_t (*flops)(const cost_query&) = nullptr;
  // Of an op that is its own kernel, as a user's function is; null: devices have theirs.
  void (*kernel)(const kernel_args&) = nullptr;

  constexpr bool is(trait t) const { return (static_cast<std::uint32_t>(traits) & static_cast<std::uint32_t>(t)) != 0; }
};

// From an op's id back to its struct, so that a session<model> binds kernels while it is compiled. op<> below
// defines the friend for each op, in this same namespace; an id without one fails to compile where it is used, and two
// ops of one name define it twice: compilers show its name then.
template <std::uint64_t Id>
struct op_key {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
  friend constexpr auto an_op_needs_a_name_of_its_own(op_key);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
};

// Base of every op: struct matmul : op<matmul, "matmul"> { ... };
template <class Derived, fixed_string Name>
struct op {
  static constexpr std::string_view name = Name.view();
  static constexpr std::uint64_t id = detail::hash(Name.view());
  static constexpr trait traits = trait::none;
  friend constexpr auto an_op_needs_a_name_of_its_own(op_key<detail::hash(Name.view())>) {
    return std::type_identity<Derived>{};
  }
};

namespace detail {

template <std::uint64_t Id>
using op_by_id = typename decltype(an_op_needs_a_name_of_its_own(op_key<Id>{}))::type;

template <class Op>
consteval op_def define_op() {
  op_def d{.name = Op::name, .id = Op::id, .traits = Op::traits, .infer = &Op::infer};
  if constexpr (requires { Op::shape_preserving; }) d.traits = d.traits | trait::shape_preserving;
  if constexpr (requires { Op::update_of_equals; }) d.traits = d.traits | trait::update_of_equals;
  if constexpr (requires(gradient_step& g) { Op::gradient(g); })
    d.gradient = &Op::gradient, d.traits = d.traits | trait::has_gradient;
  if constexpr (requires(rewriter& r) { Op::simplify(r); })
    d.simplify = &Op::simplify, d.traits = d.traits | trait::has_simplify;
  if constexpr (requires(const double* x) { Op::fold(x); }) d.fold = &Op::fold, d.traits = d.traits | trait::has_fold;
  if constexpr (requires(const cost_query& q) { Op::flops(q); })
    d.flops = &Op::flops, d.traits = d.traits | trait::has_flops;
  if constexpr (requires { typename Op::function; }) d.traits = d.traits | trait::has_function;
  if constexpr (requires(const kernel_args& k) { Op::run(k); })
    d.kernel = &Op::run, d.traits = d.traits | trait::own_kernel;
  return d;
}

}  // namespace detail

template <class Op>
inline constexpr op_def op_def_of = detail::define_op<Op>();

}  // namespace flowgraph
