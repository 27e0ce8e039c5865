// Convolutions of images [batch, height, width, channels] with filters [height, width, in, out]. With
// .layout = fg::nchw images are [batch, channels, height, width].
#pragma once
#include <flowgraph/ops/conv2d.hpp>
#include "channels.hpp"

namespace flowgraph {

namespace detail {

// The result of a transposed convolution where the caller doesn't state its size: with padding `same` stride times
// the operand's, otherwise the smallest whose convolution has the operand's shape.
struct transposed_shape {
  static constexpr void infer(inference& f) {
    const extents &y = f.in(0), &filter = f.in(1);
    const conv c = f.attrs<conv>();
    extents x = y;
    if (y.rank == 4 && filter.rank == 4 && filter[0] >= 0 && filter[1] >= 0) {
      for (int axis = 0; axis < 2; ++axis) {
        const ops::window_axis a = ops::axis_of(c, filter[axis], axis);
        const int at = ops::height_axis(c.layout) + axis;
        const extent wide = f.symbols.mul(y[at], a.stride);
        x[at] = a.mode == window_padding::automatic
                    ? wide
                    : f.symbols.add(f.symbols.sub(wide, a.stride + a.before + a.after), a.span());
      }
      x[ops::channel_axis(c.layout)] = f.symbols.mul(filter[2], c.groups);
    }
    f.out(x, f.type(0));
  }
};

template <conv Options, class X, class W>
using transposed_t = typename handle_of<typed_rule<transposed_shape, Options, void, 0, X, W>>::type;

template <class X, class W, auto Height, auto Width, conv Options, bool Images = X::rank == 4 && W::rank == 4>
struct sized_transpose {
  using whole = transposed_t<Options, X, W>;
  using last = tensor<element_t<X>, extent_v<0, X>, canonical<Height>(), canonical<Width>(), extent_v<3, whole>>;
  using first = tensor<element_t<X>, extent_v<0, X>, extent_v<1, whole>, canonical<Height>(), canonical<Width>()>;
  using type = std::conditional_t<Options.layout == nhwc, last, first>;
};
template <class X, class W, auto Height, auto Width, conv Options>
struct sized_transpose<X, W, Height, Width, Options, false> {
  using type = X;
};

}  // namespace detail

// conv2d<fg::conv{.stride = {2, 2}, .padding = fg::same}>(x, w)
template <conv Options = conv{}, any_tensor X, any_tensor W>
constexpr auto conv2d(const X& images, const W& filters, caller where = {}) {
  return detail::call<ops::conv2d, Options>(where, detail::as_tensor(images), detail::as_tensor(filters));
}

// The transpose of the convolution that these options and filters make: from its result's shape back to its
// operand's. Filters are [height, width, out, in], the convolution's own.
template <conv Options = conv{}, any_tensor X, any_tensor W>
constexpr auto conv2d_transpose(const X& images, const W& filters, caller where = {}) {
  using result = detail::transposed_t<Options, tensor_t<X>, tensor_t<W>>;
  return detail::call<ops::conv2d_input_gradient, Options, result>(where, detail::as_tensor(images),
                                                                   detail::as_tensor(filters));
}
// With a stride several sizes are possible: conv2d_transpose<options, 5, 5>(x, w) states one.
template <conv Options, auto Height, auto Width, any_tensor X, any_tensor W>
constexpr auto conv2d_transpose(const X& images, const W& filters, caller where = {}) {
  using result = typename detail::sized_transpose<tensor_t<X>, tensor_t<W>, Height, Width, Options>::type;
  return detail::call<ops::conv2d_input_gradient, Options, result>(where, detail::as_tensor(images),
                                                                   detail::as_tensor(filters));
}

// Each channel has filters of its own: [height, width, channels, multiplier]. Result channels of one channel lie
// together. A convolution with as many groups as channels; options.groups is not used.
template <conv Options = conv{}, any_tensor X, any_tensor W>
constexpr auto depthwise_conv2d(const X& images, const W& filters, caller where = {}) {
  using filter = tensor_t<W>;
  constexpr bool whole = [] {
    bool numbers = filter::rank == 4;
    for (int i = 0; i < filter::rank; ++i) numbers = numbers && filter::shape.number[i] >= 0;
    return numbers;
  }();
  if constexpr (filter::rank != 4) {
    detail::mistake<problem::conv_rank, tensor_t<X>, filter>();
    return detail::as_tensor(images);
  } else if constexpr (!whole) {
    detail::mistake<problem::needs_number, tensor_t<X>, filter>();
    return detail::as_tensor(images);
  } else {
    constexpr std::int64_t channels = filter::shape.number[2], results = channels * filter::shape.number[3];
    using grouped = tensor<element_t<W>, extent_v<0, W>, extent_v<1, W>, 1, static_cast<int>(results)>;
    constexpr conv by_channel = [] {
      conv c = Options;
      c.groups = channels;
      return c;
    }();
    const auto w = detail::call<ops::reshape, no_attrs{}, grouped>(where, detail::as_tensor(filters));
    return detail::call<ops::conv2d, by_channel>(where, detail::as_tensor(images), w);
  }
}

// x + bias along the channels: the last axis, or the second in bias_add<fg::nchw>.
template <image_layout Layout = nhwc, any_tensor X, any_tensor B>
constexpr auto bias_add(const X& x, const B& bias, caller where = {}) {
  constexpr bool fits = [] {
    if constexpr (rank_v<B> == 1 && rank_v<X> > (Layout == nhwc ? 0 : 1))
      return detail::shape_text_of<extent_v<detail::channels_of<Layout, X>(), X>>.hash ==
             detail::shape_text_of<extent_v<0, B>>.hash;
    else
      return false;
  }();
  if constexpr (!fits) {
    detail::mistake<problem::bias_extent, tensor_t<X>, tensor_t<B>>();
    return detail::as_tensor(x);
  } else {
    return add(x, detail::along_channels<Layout, X>(where, bias), where);
  }
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(conv2d, 3, not_two_tensors_first, "conv2d takes images and filters, as in conv2d(images, filters)")
FLOWGRAPH_MISUSE(conv2d_transpose, 3, not_two_tensors_first,
                 "conv2d_transpose takes images and filters, as in conv2d_transpose(images, filters)")
FLOWGRAPH_MISUSE(depthwise_conv2d, 3, not_two_tensors_first,
                 "depthwise_conv2d takes images and filters, as in depthwise_conv2d(images, filters)")
FLOWGRAPH_MISUSE(bias_add, 3, not_two_tensors_first, "bias_add takes a tensor and a bias, as in bias_add(x, bias)")

}  // namespace flowgraph
