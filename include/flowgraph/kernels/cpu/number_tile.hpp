// Element-wise ops number by number: an op's scalar function over a tile, a short run of elements. Converting, and what
// a file without lanes has of users' ops.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/graph/inference.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include "math.hpp"

namespace flowgraph::detail {

template <class Function>
constexpr int count_operands() {
  constexpr scalar_math m;
  if constexpr (requires { Function::apply(m, 1.f); })
    return 1;
  else if constexpr (requires { Function::apply(m, 1.f, 1.f); })
    return 2;
  else if constexpr (requires { Function::apply(m, 1.f, 1.f, 1.f); })
    return 3;
  else
    return 4;
}

// How an op takes operands of a type: its own rule is asked.
enum class operand_types { refused, all_equal, condition_first };

template <class Op>
constexpr operand_types ask_operand_types(dtype type) {
  constexpr int n = count_operands<typename Op::function>();
  for (const operand_types form : {operand_types::all_equal, operand_types::condition_first}) {
    symbols s;
    inference f(s);
    for (int i = 0; i < n; ++i) f.operand({}, i == 0 && form == operand_types::condition_first ? dtype::boolean : type);
    Op::infer(f);
    if (!f.failed() && (n > 1 || form == operand_types::all_equal)) return form;
  }
  return operand_types::refused;
}

// The element type of the first operand of Op on T.
template <class Op, class T>
using first_operand = std::conditional_t<ask_operand_types<Op>(dtype_of<T>) == operand_types::condition_first, bool, T>;
template <class Op>
inline constexpr auto operand_indices =
    std::make_index_sequence<static_cast<std::size_t>(count_operands<typename Op::function>())>{};

// Op on operands of T, as numbers one by one.
template <class Function, class T, class First, std::size_t... I>
void scalar_tile(void* out, const void* const* in, int n, std::index_sequence<I...>) {
  const auto* first = static_cast<const First*>(in[0]);
  const auto operand = [&]<std::size_t K>(std::integral_constant<std::size_t, K>, int i) {
    if constexpr (K == 0)
      return computed<First>::load(first[i]);
    else
      return computed<T>::load(static_cast<const T*>(in[K])[i]);
  };
  using result = decltype(Function::apply(scalar_math{}, operand(std::integral_constant<std::size_t, I>{}, 0)...));
  constexpr bool truth = std::is_same_v<result, bool>;
  auto* to = static_cast<std::conditional_t<truth, bool, T>*>(out);
  for (int i = 0; i < n; ++i) {
    const result r = Function::apply(scalar_math{}, operand(std::integral_constant<std::size_t, I>{}, i)...);
    if constexpr (truth)
      to[i] = r;
    else
      to[i] = computed<T>::store(r);
  }
}

template <class Op, class T>
void number_tile(void* out, const void* const* in, int n) {
  scalar_tile<typename Op::function, T, first_operand<Op, T>>(out, in, n, operand_indices<Op>);
}

template <class To, class From>
void cast_tile(void* out, const void* const* in, int n) {
  auto* to = static_cast<To*>(out);
  const auto* from = static_cast<const From*>(in[0]);
  for (int i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

}  // namespace flowgraph::detail
