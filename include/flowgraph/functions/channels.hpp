// Vectors with an element for each channel, next to images of either layout.
#pragma once
#include <utility>

#include <flowgraph/language/elementwise.hpp>
#include <flowgraph/ops/window.hpp>

namespace flowgraph::detail {

// The axis of the channels: the last, or the second.
template <image_layout Layout, class X>
constexpr int channels_of() {
  return Layout == nhwc ? tensor_t<X>::rank - 1 : 1;
}

// A vector in the shape that broadcasts along the channels: [c] or [c, 1, 1].
template <image_layout Layout, class X, class V>
constexpr auto along_channels(source where, const V& v) {
  if constexpr (Layout == nhwc) {
    return as_tensor(v);
  } else {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return call<ops::reshape, no_attrs{}, tensor<element_t<V>, extent_v<0, V>, 1 + 0 * I...>>(where, as_tensor(v));
    }(std::make_integer_sequence<int, tensor_t<X>::rank - 2>{});
  }
}

}  // namespace flowgraph::detail
