// Where values come from: feeds, state, constants.
#pragma once
#include <bit>
#include <cstdint>

#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

// Fed by the caller of a step.
struct placeholder : op<placeholder, "placeholder"> {
  static constexpr trait traits = trait::source;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

// State that outlives a step. The initialiser is a kind with up to two parameters (language/init.hpp); the words behind
// the attributes are the elements that it begins with, as those of a literal, if it says so.
struct variable : op<variable, "variable"> {
  struct attrs {
    std::int64_t initializer;
    double a;
    double b;
    std::int64_t trainable;
  };
  static constexpr trait traits = trait::source | trait::stateful;
  static constexpr void infer(inference& f) {
    for (int i = 0; i < f.declared().rank; ++i) f.require(f.declared()[i] >= 0, problem::needs_number);
    f.out(f.declared(), f.declared_type());
  }
};

// One number for all elements. Integers are exact up to 2^53.
struct constant : op<constant, "constant"> {
  struct attrs {
    double value;
  };
  static constexpr trait traits = trait::source;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

// Elements one by one, a word each: the bits of a double for floating-point types, the integer for the others.
struct literal : op<literal, "literal"> {
  static constexpr trait traits = trait::source;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

template <class T>
constexpr std::int64_t literal_word(T value) {
  if constexpr (is_floating(detail::dtype_of<T>))
    return std::bit_cast<std::int64_t>(static_cast<double>(value));
  else
    return static_cast<std::int64_t>(value);
}

// A scalar constant of x's type, to be broadcast.
constexpr ref scalar_like(ref x, double value) {
  const auto block = detail::words_of(constant::attrs{value});
  return {x.graph, x.graph->append(op_def_of<constant>, 0, x.type(), nullptr, 0, block.w, 1)};
}

// A constant of x's shape and type.
constexpr ref full_like(ref x, double value) {
  const auto block = detail::words_of(constant::attrs{value});
  return {x.graph, x.graph->append(op_def_of<constant>, x.get().shape, x.type(), nullptr, 0, block.w, 1)};
}

constexpr bool is_constant(ref x, double value) {
  const node& n = x.graph->nodes.data[x.id];
  return n.op->id == constant::id && std::bit_cast<double>(x.graph->words.data[n.attrs]) == value;
}

}  // namespace flowgraph::ops
