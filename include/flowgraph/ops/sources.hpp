// Where values come from: feeds, state, constants.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

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
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    for (int i = 0; i < f.declared().rank; ++i) f.require(f.declared()[i] >= 0, problem::needs_number);
    f.out(f.declared(), f.declared_type());
  }
};

// One number for all elements, as a word.
struct constant : op<constant, "constant"> {
  struct attrs {
    std::int64_t word;
  };
  static constexpr trait traits = trait::source;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

// Elements one by one, a word each.
struct literal : op<literal, "literal"> {
  static constexpr trait traits = trait::source;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

// A number as a word of the graph, by the element type of who holds it: the bits of a double for floating-point types,
// the integer for the others, so that none is rounded.
template <class T>
constexpr std::int64_t literal_word(T value) {
  if constexpr (is_floating(detail::dtype_of<T>))
    return std::bit_cast<std::int64_t>(static_cast<double>(value));
  else
    return static_cast<std::int64_t>(value);
}
constexpr std::int64_t number_word(dtype type, double value) {
  if (is_floating(type)) return std::bit_cast<std::int64_t>(value);
  constexpr double limit = 9223372036854775808.0;
  if (value != value) return 0;
  return value >= limit ? INT64_MAX : value < -limit ? INT64_MIN : static_cast<std::int64_t>(value);
}
// Any C++ number for elements of T, which an integer that T does not have is as near to as can be.
template <class T, class N>
constexpr std::int64_t number_word(N value) {
  if constexpr (!std::is_integral_v<T> || !std::is_integral_v<N>)
    return number_word(detail::dtype_of<T>, static_cast<double>(value));
  else if constexpr (std::is_same_v<T, bool> || std::is_same_v<N, bool>)
    return value != N{};
  else if (std::cmp_greater(value, std::numeric_limits<T>::max()))
    return static_cast<std::int64_t>(std::numeric_limits<T>::max());
  else
    return std::cmp_less(value, std::numeric_limits<T>::min())
               ? static_cast<std::int64_t>(std::numeric_limits<T>::min())
               : static_cast<std::int64_t>(value);
}
// The number that a word is; of an integer beyond 2^53 the nearest double.
constexpr double number_of(dtype type, std::int64_t word) {
  return is_floating(type) ? std::bit_cast<double>(word) : static_cast<double>(word);
}

// A scalar constant of x's type, to be broadcast.
FLOWGRAPH_CONSTEXPR ref scalar_like(ref x, double value) {
  const auto block = detail::words_of(constant::attrs{number_word(x.type(), value)});
  return {x.graph, x.graph->append(op_def_of<constant>, 0, x.type(), nullptr, 0, block.w, 1)};
}

// A constant of x's shape and type.
FLOWGRAPH_CONSTEXPR ref full_like(ref x, double value) {
  const auto block = detail::words_of(constant::attrs{number_word(x.type(), value)});
  return {x.graph, x.graph->append(op_def_of<constant>, x.get().shape, x.type(), nullptr, 0, block.w, 1)};
}

FLOWGRAPH_CONSTEXPR bool is_constant(ref x, double value) {
  const node& n = x.graph->nodes.data[x.id];
  return n.op->id == constant::id && number_of(n.type, x.graph->words.data[n.attrs]) == value;
}

}  // namespace flowgraph::ops
