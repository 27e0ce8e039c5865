// half and bfloat16 in functions that are made of several ops: the ops between operand and result are in float, so that
// such a function, too, rounds once.
#pragma once
#include <flowgraph/language/elementwise.hpp>

namespace flowgraph::detail {

template <class T>
inline constexpr bool is_16_bit_tensor = size_of(dtype_of<element_t<T>>) == 2;

template <class T>
constexpr auto widened(source where, T x) {
  if constexpr (is_16_bit_tensor<T>)
    return call<ops::cast, no_attrs{}, tensor<float>>(where, x);
  else
    return x;
}

// Back to the element type of Like.
template <class Like, class T>
constexpr auto narrowed(source where, T x) {
  if constexpr (is_16_bit_tensor<Like>)
    return call<ops::cast, no_attrs{}, tensor<element_t<Like>>>(where, x);
  else
    return x;
}

}  // namespace flowgraph::detail
