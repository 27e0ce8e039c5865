// Convolution and its two gradients by oneDNN. Images stay as they are, [batch, height, width, channels]; where oneDNN
// is clearly faster on channels in blocks of eight, without AVX-512, a piece is put into blocks in the cache before it
// is computed and back afterwards, which costs a few percent of what it gains (docs/adr/0005-blocks-in-the-cache.md).
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <flowgraph/kernels/cpu/channels_last.hpp>
#include <flowgraph/kernels/cpu/tiled_conv.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/kernels/provider.hpp>
#include "conv_pieces.hpp"
#include "describe.hpp"

namespace flowgraph::detail::onednn {

inline constexpr std::int64_t block = 8;

// [images][pixels][channels] to [images][channels / 8][pixels][8], or back.
template <bool Pack>
void move_blocks(const float* from, float* to, std::int64_t images, std::int64_t pixels, std::int64_t channels) {
  constexpr std::int64_t tile = 64;  // pixels that stay in the first-level cache while their blocks go apart
  for (std::int64_t i = 0; i < images; ++i, from += pixels * channels, to += pixels * channels)
    for (std::int64_t first = 0; first < pixels; first += tile)
      for (std::int64_t c = 0; c < channels; c += block)
        for (std::int64_t p = first; p < std::min(first + tile, pixels); ++p) {
          const std::int64_t plain = p * channels + c, blocked = c * pixels + p * block;
          std::memcpy(to + (Pack ? blocked : plain), from + (Pack ? plain : blocked), block * sizeof(float));
        }
}

class convolution final : public prepared_kernel {
 public:
  // Null: oneDNN has no quick way.
  static std::unique_ptr<prepared_kernel> make(direction d, const kernel_args& k, bool everywhere) {
    const conv c = k.attrs<conv>();
    turned_image x, y;
    const array_view& w = d == direction::filter ? k.out[0] : k.in[1];
    x.view = d == direction::input ? k.out[0] : k.in[0];
    y.view = d == direction::forward ? k.out[0] : d == direction::input ? k.in[0] : k.in[1];
    if (c.layout != nhwc) x.describe(x.view), y.describe(y.view);
    const conv_shape s(c, x.view, w, y.view);
    if (!everywhere && (s.images * s.flops() < 1 << 20 || on_tiles(d, conv_geometry(c, x.view, w, y.view))))
      return nullptr;
    std::unique_ptr<convolution> made(new convolution(d, s, c.layout));
    return made->prepare(everywhere) ? std::move(made) : nullptr;
  }

  void run(const kernel_args& k) override {
    const unsigned images = direction_ == direction::filter ? 0x003 : 0x101;
    with_channels_last<float>(k, layout_, images, [&](const array_view* in, const array_view& out) {
      if (direction_ == direction::filter) return run_filter(k, in[0].as<float>(), in[1].as<float>());
      if (in[1].version == nullptr || filter_version_ != *in[1].version) {
        const on_this_thread alone;
        copy_filter(in[1].as<float>(), true);
        filter_version_ = in[1].version == nullptr ? none : *in[1].version;
      }
      const bool forward = direction_ == direction::forward;
      float *const x = (forward ? *in : out).as<float>(), *const y = (forward ? out : *in).as<float>();
      parallel_for(k, size(pieces_), 1, [&](std::int64_t first, std::int64_t last) {
        const on_this_thread alone;
        for (std::int64_t i = first; i < last; ++i) {
          run_piece(i, x, y);
          if (!finishes()) continue;
          const conv_piece& p = pieces_[static_cast<std::size_t>(i)];
          const std::int64_t row = p.image * shape_.out[0] + p.y.first;
          k.finish(row * shape_.y_row(), (row + (p.images - 1) * shape_.out[0] + p.y.count) * shape_.y_row());
        }
      });
    });
  }

  bool finishes() const override { return direction_ == direction::forward && layout_ == nhwc; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  // The library's own kernels on register tiles are quicker (docs/adr/0007-register-tiles.md), but not where oneDNN has
  // wide registers, not for short rows of the window, and not where they would multiply with much padding, which oneDNN
  // leaves out.
  static bool on_tiles(direction d, const conv_geometry& g) {
    if (has_wide_registers()) return false;
    if (d == direction::input && !g.unit_stride()) return false;
    const conv_geometry of = d == direction::input ? g.reversed() : g;
    constexpr std::int64_t short_row = 24;
    if (!tiled_geometry::suits(of) || g.pointwise()) return false;
    const tiled_geometry t(of);
    return t.runs == 1 && t.length >= short_row && (d == direction::filter || share_of_padding(g) < 0.06);
  }
  // Of all places of the window.
  static double share_of_padding(const conv_geometry& g) {
    const std::int64_t window[] = {g.kernel_height, g.kernel_width}, in[] = {g.height, g.width};
    const std::int64_t out[] = {g.result_height, g.result_width};
    double inside = 1;
    for (int axis = 0; axis < 2; ++axis) {
      std::int64_t meetings = 0;
      for (std::int64_t i = 0; i < out[axis]; ++i)
        for (std::int64_t u = 0; u < window[axis]; ++u) {
          const std::int64_t at = i * g.stride[axis] + u * g.dilation[axis] - g.before[axis];
          meetings += at >= 0 && at < in[axis] ? 1 : 0;
        }
      inside *= static_cast<double>(meetings) / static_cast<double>(out[axis] * window[axis]);
    }
    return 1 - inside;
  }

  // A primitive, and the pieces of one shape that it computes.
  struct shape_primitive {
    conv_piece shape;
    primitive code;
    memory_description x, y, scratchpad;
  };
  // The arguments of one piece.
  struct arguments {
    memory_object x, y, w, scratchpad;
  };

  convolution(direction d, const conv_shape& s, image_layout layout)
      : direction_(d),
        layout_(layout),
        shape_(s),
        pieces_(cut(s, d)) {
    const std::int64_t in = s.channels / s.groups, out = s.results / s.groups;
    const bool wide = s.window[0] * s.window[1] > 1 && s.elements() >= (d == direction::filter ? 1 << 16 : 1 << 17);
    packed_ = wide && !has_wide_registers() && in % block == 0 && out % block == 0;
    static_assert(sizeof(dnnl_dim_t) == sizeof(std::int64_t));
  }

  static std::int64_t size(const auto& v) { return static_cast<std::int64_t>(v.size()); }
  static std::int64_t lines_of(const memory_description& d) { return lines(static_cast<std::int64_t>(d.bytes())); }

  bool prepare(bool everywhere) {
    const std::int64_t in = shape_.channels / shape_.groups, out = shape_.results / shape_.groups;
    const std::int64_t all = shape_.results, row = shape_.window[1] * in * all;
    const dnnl_dims_t dims{shape_.groups, out, in, shape_.window[0], shape_.window[1]};
    const dnnl_dims_t strides{out, 1, all, row, in * all};
    const int skip = shape_.groups == 1 ? 1 : 0;  // ungrouped filters have no first axis
    plain_filter_ = memory_description::by_strides(5 - skip, dims + skip, strides + skip);
    filter_ = memory_description::by_tag(5 - skip, dims + skip, dnnl_format_tag_any);
    for (const conv_piece& p : pieces_) {
      const auto same = [&p](const shape_primitive& o) {
        return o.shape.images == p.images && o.shape.x.count == p.x.count && o.shape.y.count == p.y.count &&
               o.shape.top == p.top && o.shape.bottom == p.bottom;
      };
      auto found = std::find_if(primitives_.begin(), primitives_.end(), same);
      if (found == primitives_.end()) {
        if (!add_primitive(p, everywhere)) return false;
        found = primitives_.end() - 1;
      }
      use_.push_back(static_cast<std::size_t>(found - primitives_.begin()));
      arguments& a = arguments_.emplace_back();
      a.x = make_memory(found->x);
      a.y = make_memory(found->y);
      a.w = make_memory(filter_);
      a.scratchpad = make_memory(found->scratchpad);
    }
    const std::int64_t filters = direction_ == direction::filter ? groups() : 1;
    filter_lines_ = lines_of(filter_);
    filter_buffer_ = std::make_unique<cache_line[]>(static_cast<std::size_t>(filters * filter_lines_));
    // Once: oneDNN writes zeros behind channels that do not fill a block, which threads must not do to one another.
    if (direction_ != direction::filter)
      for (const arguments& a : arguments_) set(a.w, filter_data());
    plain_filter_memory_ = make_memory(plain_filter_);
    filter_memory_ = make_memory(filter_);
    const bool reads = direction_ != direction::filter;
    primitive_description d;
    check(dnnl_reorder_primitive_desc_create(d.out(), (reads ? plain_filter_ : filter_).get(), the_engine(),
                                             (reads ? filter_ : plain_filter_).get(), the_engine(), user_scratchpad()),
          "dnnl_reorder_primitive_desc_create");
    check(dnnl_primitive_create(reorder_.out(), d.get()), "dnnl_primitive_create");
    return true;
  }

  // The first one decides how filters are laid out for all.
  bool add_primitive(const conv_piece& p, bool everywhere) {
    shape_primitive made{p, {}, {}, {}, {}};
    const dnnl_format_tag_t layout = packed_ ? dnnl_nChw8c : dnnl_nhwc;
    const dnnl_dims_t x{p.images, shape_.channels, p.x.count, shape_.in[1]};
    const dnnl_dims_t y{p.images, shape_.results, p.y.count, shape_.out[1]};
    made.x = memory_description::by_tag(4, x, layout);
    made.y = memory_description::by_tag(4, y, layout);
    const std::int64_t right =
        (shape_.out[1] - 1) * shape_.stride[1] + shape_.span(1) - shape_.before[1] - shape_.in[1];
    const window_description window{{shape_.stride[0], shape_.stride[1]},
                                    {shape_.window[0], shape_.window[1]},
                                    {shape_.dilation[0] - 1, shape_.dilation[1] - 1},
                                    {p.top, shape_.before[1]},
                                    {p.bottom, std::max<std::int64_t>(right, 0)}};
    const primitive_description chosen = describe_convolution(direction_, made.x, filter_, made.y, window);
    if (chosen.get() == nullptr) return false;
    const char* name = "";
    check(dnnl_primitive_desc_query(chosen.get(), dnnl_query_impl_info_str, 0, &name), "dnnl_primitive_desc_query");
    if (!everywhere && std::string_view(name).starts_with("ref")) return false;  // its plain loops
    const bool reads = direction_ != direction::filter;
    filter_ = memory_description::of(chosen, reads ? dnnl_query_weights_md : dnnl_query_diff_weights_md);
    made.scratchpad = memory_description::of(chosen, dnnl_query_scratchpad_md);
    check(dnnl_primitive_create(made.code.out(), chosen.get()), "dnnl_primitive_create");
    primitives_.push_back(std::move(made));
    return true;
  }

  void copy_filter(float* plain, bool in) {
    set(plain_filter_memory_, plain);
    set(filter_memory_, filter_data());
    const dnnl_exec_arg_t a[] = {{DNNL_ARG_FROM, (in ? plain_filter_memory_ : filter_memory_).get()},
                                 {DNNL_ARG_TO, (in ? filter_memory_ : plain_filter_memory_).get()}};
    check(dnnl_primitive_execute(reorder_.get(), this_stream(), 2, a), "dnnl_primitive_execute");
  }
  float* filter_data(std::int64_t group = 0) const {
    return reinterpret_cast<float*>(filter_buffer_.get() + group * filter_lines_);
  }

  // x, y: of all images. filter: where its gradient goes.
  void run_piece(std::int64_t i, float* x, float* y, float* filter = nullptr) {
    const conv_piece& p = pieces_[static_cast<std::size_t>(i)];
    const shape_primitive& code = primitives_[use_[static_cast<std::size_t>(i)]];
    const arguments& a = arguments_[static_cast<std::size_t>(i)];
    x += (p.image * shape_.in[0] + p.x.first) * shape_.x_row();
    y += (p.image * shape_.out[0] + p.y.first) * shape_.y_row();
    const std::int64_t x_lines = packed_ ? lines_of(code.x) : 0, y_lines = packed_ ? lines_of(code.y) : 0;
    cache_line* const memory = scratch<cache_line>(x_lines + y_lines + lines_of(code.scratchpad));
    float* const x_blocks = packed_ ? reinterpret_cast<float*>(memory) : x;
    float* const y_blocks = packed_ ? reinterpret_cast<float*>(memory + x_lines) : y;
    const std::int64_t x_pixels = p.x.count * shape_.in[1], y_pixels = p.y.count * shape_.out[1];
    if (packed_ && direction_ != direction::input) move_blocks<true>(x, x_blocks, p.images, x_pixels, shape_.channels);
    if (packed_ && direction_ != direction::forward) move_blocks<true>(y, y_blocks, p.images, y_pixels, shape_.results);
    set(a.x, x_blocks);
    set(a.y, y_blocks);
    if (direction_ == direction::filter) set(a.w, filter);
    set(a.scratchpad, memory + x_lines + y_lines);
    constexpr int x_is[] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_SRC, DNNL_ARG_SRC};
    constexpr int y_is[] = {DNNL_ARG_DST, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_DST};
    constexpr int w_is[] = {DNNL_ARG_WEIGHTS, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_WEIGHTS};
    const auto d = static_cast<std::size_t>(direction_);
    const dnnl_exec_arg_t all[] = {
        {x_is[d], a.x.get()}, {y_is[d], a.y.get()}, {w_is[d], a.w.get()}, {DNNL_ARG_SCRATCHPAD, a.scratchpad.get()}};
    check(dnnl_primitive_execute(code.code.get(), this_stream(), 4, all), "dnnl_primitive_execute");
    if (!packed_) return;
    if (direction_ == direction::forward) move_blocks<false>(y_blocks, y, p.images, y_pixels, shape_.results);
    if (direction_ == direction::input) move_blocks<false>(x_blocks, x, p.images, x_pixels, shape_.channels);
  }

  // Each group of pieces adds up a filter of its own, one piece after another; then the groups' filters are added.
  std::int64_t groups() const { return std::min<std::int64_t>(size(pieces_), 8); }
  void run_filter(const kernel_args& k, float* x, float* y) {
    const std::int64_t n = size(pieces_), elements = filter_lines_ * 16;
    parallel_for(k, groups(), 1, [&](std::int64_t first, std::int64_t last) {
      const on_this_thread alone;
      for (std::int64_t g = first; g < last; ++g) {
        const std::int64_t begin = g * n / groups(), end = (g + 1) * n / groups();
        run_piece(begin, x, y, filter_data(g));
        if (end - begin == 1) continue;
        float* const one = reinterpret_cast<float*>(scratch<cache_line, convolution>(filter_lines_));
        for (std::int64_t i = begin + 1; i < end; ++i) {
          run_piece(i, x, y, one);
          add(filter_data(g), one, elements);
        }
      }
    });
    parallel_for(k, elements, part_size(groups(), 16), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t g = 1; g < groups(); ++g) add(filter_data() + first, filter_data(g) + first, last - first);
    });
    const on_this_thread alone;
    copy_filter(k.out[0].as<float>(), false);
  }
  static void add(float* to, const float* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
  }

  direction direction_;
  image_layout layout_;
  conv_shape shape_;
  std::vector<conv_piece> pieces_;
  bool packed_ = false;  // x and y are computed in blocks of channels
  std::vector<shape_primitive> primitives_;
  std::vector<std::size_t> use_;  // of each piece: its primitive
  std::vector<arguments> arguments_;
  memory_description plain_filter_, filter_;  // as the graph has it; as oneDNN wants it
  memory_object plain_filter_memory_, filter_memory_;
  primitive reorder_;
  std::unique_ptr<cache_line[]> filter_buffer_;
  std::int64_t filter_lines_ = 0;
  std::uint64_t filter_version_ = none;  // of the filter that was copied
};

}  // namespace flowgraph::detail::onednn
