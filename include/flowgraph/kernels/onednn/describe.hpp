// Descriptions of memory and of primitives, the one thing that oneDNN's versions 2 and 3 say differently: in 2 they are
// structs that are filled in first, in 3 objects.
#pragma once
#include <cstddef>
#include <utility>

#include "library.hpp"

namespace flowgraph::detail::onednn {

// How an array lies in memory. Copyable; empty until it is given a value.
class memory_description {
 public:
  memory_description() = default;

  static memory_description by_tag(int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag) {
    memory_description d;
#if DNNL_VERSION_MAJOR >= 3
    check(dnnl_memory_desc_create_with_tag(d.object_.out(), rank, dims, dnnl_f32, tag),
          "dnnl_memory_desc_create_with_tag");
#else
    check(dnnl_memory_desc_init_by_tag(&d.object_, rank, dims, dnnl_f32, tag), "dnnl_memory_desc_init_by_tag");
#endif
    return d;
  }
  static memory_description by_strides(int rank, const dnnl_dim_t* dims, const dnnl_dim_t* strides) {
    memory_description d;
#if DNNL_VERSION_MAJOR >= 3
    check(dnnl_memory_desc_create_with_strides(d.object_.out(), rank, dims, dnnl_f32, strides),
          "dnnl_memory_desc_create_with_strides");
#else
    check(dnnl_memory_desc_init_by_strides(&d.object_, rank, dims, dnnl_f32, strides),
          "dnnl_memory_desc_init_by_strides");
#endif
    return d;
  }
  // What a primitive wants or makes.
  static memory_description of(const primitive_description& p, dnnl_query_t what) {
    memory_description d;
    const auto* const found = dnnl_primitive_desc_query_md(p.get(), what, 0);
#if DNNL_VERSION_MAJOR >= 3
    check(dnnl_memory_desc_clone(d.object_.out(), found), "dnnl_memory_desc_clone");
#else
    d.object_ = *found;
#endif
    return d;
  }

#if DNNL_VERSION_MAJOR >= 3
  memory_description(const memory_description& other) {
    if (other.get() != nullptr) check(dnnl_memory_desc_clone(object_.out(), other.get()), "dnnl_memory_desc_clone");
  }
  memory_description(memory_description&&) = default;
  memory_description& operator=(memory_description other) noexcept {
    object_ = std::move(other.object_);
    return *this;
  }
  const_dnnl_memory_desc_t get() const { return object_.get(); }
#else
  const dnnl_memory_desc_t* get() const { return &object_; }
#endif
  std::size_t bytes() const { return dnnl_memory_desc_get_size(get()); }

 private:
#if DNNL_VERSION_MAJOR >= 3
  handle<dnnl_memory_desc_t, &dnnl_memory_desc_destroy> object_;
#else
  dnnl_memory_desc_t object_{};
#endif
};

// An argument without an address, which set gives it.
inline memory_object make_memory(const memory_description& d) {
  memory_object m;
  check(dnnl_memory_create(m.out(), d.get(), the_engine(), DNNL_MEMORY_NONE), "dnnl_memory_create");
  return m;
}

// The functions below give a description without an object where oneDNN has no implementation.

inline primitive_description describe_softmax(bool logarithm, const memory_description& x, int axis) {
  primitive_description p;
#if DNNL_VERSION_MAJOR >= 3
  dnnl_softmax_forward_primitive_desc_create(p.out(), the_engine(), dnnl_forward_inference,
                                             logarithm ? dnnl_softmax_log : dnnl_softmax_accurate, x.get(), x.get(),
                                             axis, user_scratchpad());
#else
  dnnl_softmax_desc_t d;
  const auto describe = logarithm ? dnnl_logsoftmax_forward_desc_init : dnnl_softmax_forward_desc_init;
  if (describe(&d, dnnl_forward_inference, x.get(), axis) == dnnl_success)
    dnnl_primitive_desc_create(p.out(), &d, user_scratchpad(), the_engine(), nullptr);
#endif
  return p;
}

// A window of two axes that goes over images.
struct window_description {
  dnnl_dims_t strides, window, dilations, before, after;  // dilations: elements left out in between
};

// Mean pooling of x into y, or its gradient from y to x. Without dilations.
inline primitive_description describe_mean_pooling(bool gradient, const memory_description& x,
                                                   const memory_description& y, const window_description& w) {
  constexpr dnnl_alg_kind_t mean = dnnl_pooling_avg_exclude_padding;
  primitive_description forward, backward;
#if DNNL_VERSION_MAJOR >= 3
  if (dnnl_pooling_forward_primitive_desc_create(forward.out(), the_engine(), dnnl_forward_training, mean, x.get(),
                                                 y.get(), w.strides, w.window, w.dilations, w.before, w.after,
                                                 user_scratchpad()) != dnnl_success ||
      !gradient)
    return forward;
  dnnl_pooling_backward_primitive_desc_create(backward.out(), the_engine(), mean, x.get(), y.get(), w.strides, w.window,
                                              w.dilations, w.before, w.after, forward.get(), user_scratchpad());
#else
  dnnl_pooling_desc_t d;
  if (dnnl_pooling_forward_desc_init(&d, dnnl_forward_training, mean, x.get(), y.get(), w.strides, w.window, w.before,
                                     w.after) != dnnl_success ||
      dnnl_primitive_desc_create(forward.out(), &d, user_scratchpad(), the_engine(), nullptr) != dnnl_success ||
      !gradient)
    return forward;
  if (dnnl_pooling_backward_desc_init(&d, mean, x.get(), y.get(), w.strides, w.window, w.before, w.after) ==
      dnnl_success)
    dnnl_primitive_desc_create(backward.out(), &d, user_scratchpad(), the_engine(), forward.get());
#endif
  return backward;
}

enum class direction {
  forward,  // (x, w) -> y
  input,    // (y, w) -> x
  filter    // (x, y) -> w
};

// by.window is not asked: the filter has it.
inline primitive_description describe_convolution(direction to, const memory_description& x,
                                                  const memory_description& filter, const memory_description& y,
                                                  const window_description& by) {
  constexpr dnnl_alg_kind_t direct = dnnl_convolution_direct;
  primitive_description forward, backward;
#if DNNL_VERSION_MAJOR >= 3
  if (dnnl_convolution_forward_primitive_desc_create(forward.out(), the_engine(), dnnl_forward_training, direct,
                                                     x.get(), filter.get(), nullptr, y.get(), by.strides, by.dilations,
                                                     by.before, by.after, user_scratchpad()) != dnnl_success ||
      to == direction::forward)
    return forward;
  if (to == direction::input)
    dnnl_convolution_backward_data_primitive_desc_create(backward.out(), the_engine(), direct, x.get(), filter.get(),
                                                         y.get(), by.strides, by.dilations, by.before, by.after,
                                                         forward.get(), user_scratchpad());
  else
    dnnl_convolution_backward_weights_primitive_desc_create(backward.out(), the_engine(), direct, x.get(), filter.get(),
                                                            nullptr, y.get(), by.strides, by.dilations, by.before,
                                                            by.after, forward.get(), user_scratchpad());
#else
  dnnl_convolution_desc_t d;
  if (dnnl_dilated_convolution_forward_desc_init(&d, dnnl_forward_training, direct, x.get(), filter.get(), nullptr,
                                                 y.get(), by.strides, by.dilations, by.before,
                                                 by.after) != dnnl_success ||
      dnnl_primitive_desc_create(forward.out(), &d, user_scratchpad(), the_engine(), nullptr) != dnnl_success ||
      to == direction::forward)
    return forward;
  const dnnl_status_t described =
      to == direction::input
          ? dnnl_dilated_convolution_backward_data_desc_init(&d, direct, x.get(), filter.get(), y.get(), by.strides,
                                                             by.dilations, by.before, by.after)
          : dnnl_dilated_convolution_backward_weights_desc_init(&d, direct, x.get(), filter.get(), nullptr, y.get(),
                                                                by.strides, by.dilations, by.before, by.after);
  if (described == dnnl_success)
    dnnl_primitive_desc_create(backward.out(), &d, user_scratchpad(), the_engine(), forward.get());
#endif
  return backward;
}

}  // namespace flowgraph::detail::onednn
