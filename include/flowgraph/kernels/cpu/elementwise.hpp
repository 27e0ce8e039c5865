// Element-wise ops on the CPU. An op's scalar function becomes one function over a tile: a short run of elements that
// stays in the first-level cache. fused.hpp strings tiles together; an op alone is a program of one step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/binary.hpp>
#include "lane_math.hpp"
#include "number_tile.hpp"

namespace flowgraph {

namespace detail {

// What an element of type X is while it is computed among lanes of T.
template <class T, class X>
using lanes_of = std::conditional_t<std::is_same_v<X, bool>, lane_mask<T>, lanes<T>>;

// All lanes from x[at] on, or the first n of them.
template <class T, class X>
lanes_of<T, X> load_lanes(const X* x, std::int64_t at) {
  return lanes_of<T, X>::load(x + at);
}
template <class T, class X>
lanes_of<T, X> load_lanes(const X* x, std::int64_t at, int n) {
  return lanes_of<T, X>::load(x + at, n);
}

// The same on as many at once as the processor has lanes.
template <class Function, class T, class First, std::size_t... I>
void lane_tile(void* out, const void* const* in, int n, std::index_sequence<I...>) {
  const auto apply = [&](const auto&... at_and_count) {
    return Function::apply(lane_math{}, [&] {
      using X = std::conditional_t<I == 0, First, T>;
      return load_lanes<T>(static_cast<const X*>(in[I]), at_and_count...);
    }()...);
  };
  using result = decltype(apply(0));
  using element = std::conditional_t<std::is_same_v<result, lane_mask<T>>, bool, T>;
  auto* to = static_cast<element*>(out);
  int i = 0;
  for (; i + lane_count<T> <= n; i += lane_count<T>) apply(i).store(to + i);
  if (i < n) apply(i, n - i).store(to + i, n - i);
}

template <class Op, class T>
void elementwise_tile(void* out, const void* const* in, int n) {
  if constexpr (std::is_floating_point_v<T>)
    lane_tile<typename Op::function, T, first_operand<Op, T>>(out, in, n, operand_indices<Op>);
  else
    number_tile<Op, T>(out, in, n);
}

}  // namespace detail

// The element-wise ops of the library, for graphs that are built when the program runs.
using elementwise_kernels =
    type_list<ops::broadcast_to, ops::neg, ops::abs, ops::sign, ops::exp, ops::log, ops::log1p, ops::expm1, ops::sqrt,
              ops::rsqrt, ops::square, ops::reciprocal, ops::sin, ops::cos, ops::tan, ops::tanh, ops::sigmoid,
              ops::softplus, ops::erf, ops::relu, ops::relu_gradient, ops::floor, ops::ceil, ops::round, ops::add,
              ops::sub, ops::mul, ops::div, ops::floordiv, ops::mod, ops::pow, ops::maximum, ops::minimum, ops::equal,
              ops::not_equal, ops::less, ops::less_equal, ops::greater, ops::greater_equal, ops::logical_and,
              ops::logical_or, ops::logical_xor, ops::logical_not, ops::isnan, ops::isfinite, ops::select, ops::cast>;

}  // namespace flowgraph
