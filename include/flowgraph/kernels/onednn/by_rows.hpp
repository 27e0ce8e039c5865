// Ops that compute each entry of the first axis by itself, rows of a softmax or images of a pooling, by oneDNN: cut
// anywhere, a primitive for the parts and one for what remains. Mean pooling and softmax are several times faster than
// the library's own kernels where those are compiled for any processor; oneDNN looks at which one it runs on.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/kernels/provider.hpp>
#include <flowgraph/ops/pool.hpp>
#include <flowgraph/ops/softmax.hpp>
#include "describe.hpp"

namespace flowgraph::detail::onednn {

// A primitive's description with its operand and result.
struct row_description {
  primitive_description primitive;
  memory_description from, to;
};

class by_rows final : public prepared_kernel {
 public:
  // rows: how many; each has `work` elementary operations. describe(n) says how n of them are computed; without a
  // primitive in it, oneDNN can't. from_is and to_is: the names of the operand and the result.
  template <class Describe>
  static std::unique_ptr<prepared_kernel> make(std::int64_t rows, std::int64_t work, int from_is, int to_is,
                                               const Describe& describe) {
    constexpr std::int64_t most_parts = 64;
    std::unique_ptr<by_rows> made(new by_rows);
    made->rows_ = rows;
    made->grain_ = std::min(rows, std::max(part_size(work), (rows + most_parts - 1) / most_parts));
    made->from_is_ = from_is;
    made->to_is_ = to_is;
    for (const std::int64_t n : {made->grain_, rows % made->grain_}) {
      if (n == 0) break;
      const row_description d = describe(n);
      if (d.primitive.get() == nullptr) return nullptr;
      if (made->primitives_.empty()) {
        made->from_bytes_ = d.from.bytes() / static_cast<std::size_t>(n);
        made->to_bytes_ = d.to.bytes() / static_cast<std::size_t>(n);
      }
      check(dnnl_primitive_create(made->primitives_.emplace_back().out(), d.primitive.get()), "dnnl_primitive_create");
      const auto scratchpad = memory_description::of(d.primitive, dnnl_query_scratchpad_md);
      const std::int64_t parts = made->primitives_.size() == 1 ? rows / made->grain_ : 1;
      for (std::int64_t i = 0; i < parts; ++i)
        made->arguments_.push_back({make_memory(d.from), make_memory(d.to), make_memory(scratchpad)});
      made->scratchpad_ = std::max(made->scratchpad_, lines(static_cast<std::int64_t>(scratchpad.bytes())));
    }
    return made;
  }

  void run(const kernel_args& k) override {
    auto *const from = k.in[0].as<std::byte>(), *const to = k.out[0].as<std::byte>();
    parallel_for(k, rows_, grain_, [&](std::int64_t first, std::int64_t last) {
      const on_this_thread alone;
      const auto row = static_cast<std::size_t>(first);
      const arguments& a = arguments_[row / static_cast<std::size_t>(grain_)];
      set(a.from, from + row * from_bytes_);
      set(a.to, to + row * to_bytes_);
      set(a.scratchpad, scratch<cache_line>(scratchpad_));
      const dnnl_exec_arg_t all[] = {
          {from_is_, a.from.get()}, {to_is_, a.to.get()}, {DNNL_ARG_SCRATCHPAD, a.scratchpad.get()}};
      const primitive& p = last - first == grain_ ? primitives_.front() : primitives_.back();
      check(dnnl_primitive_execute(p.get(), this_stream(), 3, all), "dnnl_primitive_execute");
    });
  }

 private:
  struct arguments {
    memory_object from, to, scratchpad;
  };

  by_rows() = default;

  std::int64_t rows_ = 0, grain_ = 1, scratchpad_ = 0;
  std::size_t from_bytes_ = 0, to_bytes_ = 0;  // of a row
  int from_is_ = 0, to_is_ = 0;
  std::vector<primitive> primitives_;  // of a part, and of what remains
  std::vector<arguments> arguments_;   // of each part
};

// Along the last axis; along others oneDNN has plain loops.
inline std::unique_ptr<prepared_kernel> make_softmax(const kernel_args& k, bool logarithm) {
  const array_view& x = k.in[0];
  const std::int64_t n = x.rank == 0 ? 0 : x.last(0);
  if (x.rank == 0 || k.attrs<ops::axis_attrs>().axis != x.rank - 1) return nullptr;
  constexpr std::int64_t exp_work = 8;
  return by_rows::make(x.size() / n, exp_work * n, DNNL_ARG_SRC, DNNL_ARG_DST, [&](std::int64_t rows) {
    row_description d;
    const dnnl_dims_t dims{rows, n};
    d.from = d.to = memory_description::by_tag(2, dims, dnnl_ab);
    d.primitive = describe_softmax(logarithm, d.from, 1);
    return d;
  });
}

// Mean pooling and its gradient. The largest of a window is the library's own affair: for oneDNN a NaN is no number to
// compare with, and its gradient asks for what the forward pass has noted.
inline std::unique_ptr<prepared_kernel> make_avg_pool(const kernel_args& k, bool gradient) {
  const pool p = k.attrs<pool>();
  if (p.layout != nhwc) return nullptr;
  const array_view &x = gradient ? k.out[0] : k.in[0], &y = gradient ? k.in[0] : k.out[0];
  window_description w{};
  for (int i = 0; i < 2; ++i) {
    const ops::window_axis a = ops::axis_of(p, i);
    w.strides[i] = a.stride;
    w.window[i] = a.window;
    w.before[i] = a.padding_before(x.dim(i + 1), y.dim(i + 1));
    w.after[i] = std::max<std::int64_t>((y.dim(i + 1) - 1) * a.stride + a.window - w.before[i] - x.dim(i + 1), 0);
  }
  const int from_is = gradient ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC, to_is = gradient ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST;
  const std::int64_t work = y.size() / y.dim(0) * w.window[0] * w.window[1];
  return by_rows::make(x.dim(0), work, from_is, to_is, [&](std::int64_t images) {
    row_description d;
    memory_description &of_x = gradient ? d.to : d.from, &of_y = gradient ? d.from : d.to;
    const dnnl_dims_t x_dims{images, x.dim(3), x.dim(1), x.dim(2)}, y_dims{images, y.dim(3), y.dim(1), y.dim(2)};
    of_x = memory_description::by_tag(4, x_dims, dnnl_nhwc);
    of_y = memory_description::by_tag(4, y_dims, dnnl_nhwc);
    d.primitive = describe_mean_pooling(gradient, of_x, of_y, w);
    return d;
  });
}

}  // namespace flowgraph::detail::onednn
