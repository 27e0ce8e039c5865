// oneDNN's convolutions held to the sum that defines them, with every way to slide, and at sizes where they are cut
// into pieces and put into blocks.
#if FLOWGRAPH_ONEDNN
#include <flowgraph/kernels/onednn/provider.hpp>

#include <vector>

#include <doctest/doctest.h>

#include "support/run_kernel.hpp"

namespace {

using namespace flowgraph;
using flowgraph::testing::host_array, flowgraph::testing::whole_numbers;
using namespace flowgraph::detail::onednn;

struct images {
  std::int64_t n, height, width, channels;
};
struct filters {
  std::int64_t height, width, results;
};

// f(x, w, y) with the places of all elements that meet.
template <class F>
void for_each_meeting(const conv_shape& s, const F& f) {
  const std::int64_t in = s.channels / s.groups, out = s.results / s.groups;
  for (std::int64_t n = 0; n < s.images; ++n)
    for (std::int64_t i = 0; i < s.out[0]; ++i)
      for (std::int64_t j = 0; j < s.out[1]; ++j)
        for (std::int64_t u = 0; u < s.window[0]; ++u)
          for (std::int64_t v = 0; v < s.window[1]; ++v) {
            const std::int64_t row = i * s.stride[0] + u * s.dilation[0] - s.before[0];
            const std::int64_t column = j * s.stride[1] + v * s.dilation[1] - s.before[1];
            if (row < 0 || row >= s.in[0] || column < 0 || column >= s.in[1]) continue;
            const std::int64_t x = ((n * s.in[0] + row) * s.in[1] + column) * s.channels;
            const std::int64_t y = ((n * s.out[0] + i) * s.out[1] + j) * s.results;
            for (std::int64_t c = 0; c < in; ++c)
              for (std::int64_t o = 0; o < s.results; ++o)
                f(static_cast<std::size_t>(x + o / out * in + c),
                  static_cast<std::size_t>(((u * s.window[1] + v) * in + c) * s.results + o),
                  static_cast<std::size_t>(y + o));
          }
}

void check_all_directions(images m, filters k, conv c) {
  CAPTURE(m.height);
  CAPTURE(m.channels);
  CAPTURE(k.results);
  std::int64_t out[2];
  const std::int64_t extents[] = {m.height, m.width}, windows[] = {k.height, k.width};
  for (int axis = 0; axis < 2; ++axis) {
    const ops::window_axis a = ops::axis_of(c, windows[axis], axis);
    out[axis] = a.mode == window_padding::automatic ? (extents[axis] + a.stride - 1) / a.stride
                                                    : (extents[axis] + a.before + a.after - a.span()) / a.stride + 1;
  }
  auto x = whole_numbers<float>({m.n, m.height, m.width, m.channels}, 3);
  auto w = whole_numbers<float>({k.height, k.width, m.channels / c.groups, k.results}, 5);
  auto y = whole_numbers<float>({m.n, out[0], out[1], k.results}, 4);
  const conv_shape s(c, x.view(), w.view(), y.view());
  host_array<float> made_y(y.dims), made_x(x.dims), made_w(w.dims), true_y(y.dims), true_x(x.dims), true_w(w.dims);
  testing::run_prepared<ops::conv2d>(everywhere, c, made_y, x, w);
  testing::run_prepared<ops::conv2d_input_gradient>(everywhere, c, made_x, y, w);
  testing::run_prepared<ops::conv2d_filter_gradient>(everywhere, c, made_w, x, y);
  for_each_meeting(s, [&](std::size_t i, std::size_t j, std::size_t l) {
    true_y.values[l] += x.values[i] * w.values[j];
    true_x.values[i] += y.values[l] * w.values[j];
    true_w.values[j] += x.values[i] * y.values[l];
  });
  CHECK(made_y.values == true_y.values);
  CHECK(made_x.values == true_x.values);
  CHECK(made_w.values == true_w.values);
}

}  // namespace

TEST_CASE("oneDNN: convolutions that slide in every way") {
  check_all_directions({2, 6, 7, 3}, {3, 3, 5}, {});
  check_all_directions({2, 6, 7, 8}, {3, 2, 16}, {.padding = same});
  check_all_directions({3, 9, 8, 8}, {3, 3, 8}, {.stride = {2, 3}, .padding = same});
  check_all_directions({1, 9, 8, 4}, {2, 3, 6}, {.stride = {1, 2}, .dilation = {3, 2}});
  check_all_directions({1, 7, 8, 4}, {3, 3, 4}, {.padding = padded(2, 0, 1, 3)});
  check_all_directions({2, 5, 6, 16}, {1, 1, 24}, {});
  check_all_directions({2, 6, 6, 16}, {1, 1, 8}, {.stride = {2, 2}});
}

TEST_CASE("oneDNN: convolutions in groups, and of each channel alone") {
  check_all_directions({2, 5, 6, 16}, {3, 3, 32}, {.padding = same, .groups = 2});
  check_all_directions({2, 5, 6, 6}, {3, 3, 9}, {.padding = same, .groups = 3});
  check_all_directions({2, 5, 6, 8}, {3, 3, 8}, {.padding = same, .groups = 8});
  check_all_directions({2, 7, 6, 5}, {3, 3, 10}, {.stride = {2, 2}, .groups = 5});
}

TEST_CASE("oneDNN: convolutions in pieces and in blocks") {
  check_all_directions({1, 64, 64, 32}, {3, 3, 32}, {.padding = same});  // rows of one image, in blocks
  check_all_directions({1, 65, 63, 24}, {5, 3, 40}, {.stride = {2, 1}, .padding = padded(1, 2, 0, 1)});
  check_all_directions({1, 64, 64, 20}, {3, 3, 20}, {.dilation = {2, 1}});  // not in blocks
  check_all_directions({9, 12, 12, 16}, {3, 3, 16}, {.padding = same});     // several images, and what remains
}

TEST_CASE("oneDNN: images with their channels first") {
  constexpr conv last{.stride = {2, 1}, .padding = same};
  constexpr conv first{.stride = {2, 1}, .padding = same, .layout = nchw};
  auto x = whole_numbers<float>({2, 5, 6, 3}, 3), w = whole_numbers<float>({3, 3, 3, 4}, 5),
       y = whole_numbers<float>({2, 3, 6, 4}, 4);
  const auto turn = [](const host_array<float>& a) {  // to channels first
    const std::int64_t n = a.dims[0], pixels = a.dims[1] * a.dims[2], c = a.dims[3];
    host_array<float> b({n, c, a.dims[1], a.dims[2]});
    for (std::int64_t i = 0; i < n * pixels * c; ++i)
      b.values[static_cast<std::size_t>((i / (pixels * c) * c + i % c) * pixels + i / c % pixels)] =
          a.values[static_cast<std::size_t>(i)];
    return b;
  };
  auto turned_x = turn(x), turned_y = turn(y);
  host_array<float> y1(y.dims), y2(turned_y.dims), x1(x.dims), x2(turned_x.dims), w1(w.dims), w2(w.dims);
  testing::run_prepared<ops::conv2d>(everywhere, last, y1, x, w);
  testing::run_prepared<ops::conv2d>(everywhere, first, y2, turned_x, w);
  CHECK(turn(y1).values == y2.values);
  testing::run_prepared<ops::conv2d_input_gradient>(everywhere, last, x1, y, w);
  testing::run_prepared<ops::conv2d_input_gradient>(everywhere, first, x2, turned_y, w);
  CHECK(turn(x1).values == x2.values);
  testing::run_prepared<ops::conv2d_filter_gradient>(everywhere, last, w1, x, y);
  testing::run_prepared<ops::conv2d_filter_gradient>(everywhere, first, w2, turned_x, turned_y);
  CHECK(w1.values == w2.values);
}

TEST_CASE("oneDNN computes the convolutions that it computes faster than register tiles") {
  const auto asks = [](std::int64_t size, std::int64_t channels, std::int64_t window) {
    return testing::prepares<ops::conv2d, float>(where_faster, conv{.padding = same}, {2, size, size, channels},
                                                 {{2, size, size, channels}, {window, window, channels, channels}}) !=
           nullptr;
  };
  CHECK_FALSE(asks(3, 8, 1));  // too small
  CHECK(asks(32, 32, 1));      // a product of pixels by a matrix
  CHECK(asks(7, 64, 5));       // much padding
  CHECK(asks(56, 64, 3) != (detail::has_register_tiles() && !detail::onednn::has_wide_registers()));
}

TEST_CASE("oneDNN: pieces cover every row once, whatever the window does") {
  int cut_into_rows = 0;
  for (const std::int64_t window : {1, 2, 3, 7})
    for (const std::int64_t stride : {1, 2, 3})
      for (const std::int64_t dilation : {1, 2})
        for (const window_padding& padding : {valid, same, padded(2, 1, 0, 0)})
          for (const direction d : {direction::forward, direction::input, direction::filter}) {
            const conv c{.stride = {stride, stride}, .dilation = {dilation, dilation}, .padding = padding};
            const ops::window_axis a = ops::axis_of(c, window, 0);
            const std::int64_t out = padding.mode == window_padding::automatic
                                         ? (100 + stride - 1) / stride
                                         : (100 + a.before + a.after - a.span()) / stride + 1;
            const std::int64_t x[] = {1, 100, 100, 256}, w[] = {window, 1, 256, 256}, y[] = {1, out, 100, 256};
            const conv_shape s(c, {nullptr, x, 4, dtype::float32}, {nullptr, w, 4, dtype::float32},
                               {nullptr, y, 4, dtype::float32});
            const auto pieces = cut(s, d);
            cut_into_rows += pieces.size() > 1;
            std::int64_t next = 0;
            for (const conv_piece& p : pieces) {
              const rows& made = d == direction::input ? p.x : p.y;
              CHECK(made.first == next);
              next += made.count;
              // What oneDNN asks of extents and paddings.
              CHECK((p.x.count - s.span(0) + p.top + p.bottom) / stride + 1 == p.y.count);
              CHECK(p.top >= 0);
              CHECK(p.x.first + p.x.count <= 100);
              CHECK(p.y.first + p.y.count <= out);
            }
            CHECK(next == (d == direction::input ? 100 : out));
          }
  CHECK(cut_into_rows > 100);
}
#endif
