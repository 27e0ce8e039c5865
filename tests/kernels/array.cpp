// Kernels of array ops where a graph can't lead them: NaN, empty axes, every element size, wrong indices.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <flowgraph/kernels/cpu/concat.hpp>
#include <flowgraph/kernels/cpu/gather.hpp>
#include <flowgraph/kernels/cpu/range.hpp>
#include <flowgraph/kernels/cpu/slice.hpp>
#include <flowgraph/kernels/cpu/sort.hpp>
#include <flowgraph/kernels/cpu/tile.hpp>
#include "support/run_kernel.hpp"

namespace fg = flowgraph;
namespace ops = fg::ops;
using fg::testing::host_array;
using fg::testing::run_kernel;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
using positions = std::vector<std::int64_t>;

// 0, 1, 2, ... in any element type: small numbers are exact in all of them.
template <class T>
host_array<T> counted(std::vector<std::int64_t> dims) {
  host_array<T> a(std::move(dims));
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = fg::detail::convert<T>(static_cast<std::int64_t>(i));
  return a;
}

template <class T>
bool holds(const host_array<T>& a, const std::vector<double>& expected) {
  if (a.values.size() != expected.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (static_cast<double>(a.values[i]) != expected[i]) return false;
  return true;
}

// The message of the execution_error that f throws for this reason.
template <class F>
std::string complaint(const F& f, fg::problem why) {
  try {
    f();
  } catch (const fg::execution_error& e) {
    return e.why() == why ? e.what() : "another reason";
  }
  return "no error";
}

}  // namespace

TEST_CASE_TEMPLATE("elements of every size are moved alike", T, std::int8_t, std::uint8_t, std::int32_t, std::int64_t,
                   fg::half, fg::bfloat16, float, double) {
  const auto x = counted<T>({2, 3});
  CHECK(holds(run_kernel<ops::slice, T>(ops::box_attrs{{0, 1}}, {2, 2}, x), {1, 2, 4, 5}));
  CHECK(holds(run_kernel<ops::pad, T>(ops::pad::attrs{{0, 1}, ops::number_word<T>(7)}, {2, 5}, x),
              {7, 0, 1, 2, 7, 7, 3, 4, 5, 7}));
  CHECK(holds(run_kernel<ops::strided_slice, T>(ops::stride_attrs{{1, 2}, {-3, ops::axis_edge}, {-1, -2}}, {2, 2}, x),
              {5, 3, 2, 0}));
  CHECK(holds(
      run_kernel<ops::strided_slice_gradient, T>(ops::stride_attrs{{0, 0}, {2, 3}, {1, 2}}, {2, 3}, counted<T>({2, 2})),
      {0, 0, 1, 2, 0, 3}));
  CHECK(holds(run_kernel<ops::tile, T>(ops::tile::attrs{{2, 2}}, {4, 6}, x),
              {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  CHECK(holds(run_kernel<ops::reverse, T>(ops::reverse::attrs{3}, {2, 3}, x), {5, 4, 3, 2, 1, 0}));
  CHECK(holds(run_kernel<ops::concat, T>(ops::concat::attrs{1}, {2, 4}, x, counted<T>({2, 1})),
              {0, 1, 2, 0, 3, 4, 5, 1}));
  const host_array<std::int64_t> rows({2}, {1, 1});
  CHECK(holds(run_kernel<ops::gather, T>(ops::gather_attrs{0}, {2, 3}, x, rows), {3, 4, 5, 3, 4, 5}));
  CHECK(holds(run_kernel<ops::gather_gradient, T>(ops::gather_attrs{0}, {3, 3}, rows, x), {0, 0, 0, 3, 5, 7, 0, 0, 0}));
  CHECK(holds(run_kernel<ops::cumsum, T>(ops::cumsum::attrs{0, 0, 0}, {2, 3}, x), {0, 1, 2, 3, 5, 7}));
}

TEST_CASE("booleans are moved as well") {
  const host_array<std::uint8_t> x({2, 2}, {1, 0, 0, 1});  // std::vector<bool> has no memory to show
  CHECK(run_kernel<ops::reverse, bool, ops::reverse::attrs, std::uint8_t>({2}, {2, 2}, x).values ==
        std::vector<std::uint8_t>{0, 1, 1, 0});
}

TEST_CASE("empty axes give empty or zero results") {
  const host_array<float> none({0, 3});
  CHECK(run_kernel<ops::tile, float>(ops::tile::attrs{{2, 2}}, {0, 6}, none).values.empty());
  CHECK(run_kernel<ops::reverse, float>(ops::reverse::attrs{1}, {0, 3}, none).values.empty());
  CHECK(run_kernel<ops::cumsum, float>(ops::cumsum::attrs{0, 1, 1}, {0, 3}, none).values.empty());
  CHECK(holds(run_kernel<ops::pad, float>(ops::pad::attrs{{1, 0}, ops::literal_word(2.0)}, {1, 3}, none), {2, 2, 2}));
  CHECK(holds(run_kernel<ops::concat, float>(ops::concat::attrs{0}, {1, 3}, none, counted<float>({1, 3})), {0, 1, 2}));
  CHECK(
      run_kernel<ops::strided_slice, float>(ops::stride_attrs{{2}, {2}, {1}}, {0}, counted<float>({5})).values.empty());
  CHECK(run_kernel<ops::gather, float>(ops::gather_attrs{0}, {0, 3}, counted<float>({2, 3}),
                                       host_array<std::int32_t>({0}))
            .values.empty());
  CHECK(run_kernel<ops::argsort, float, ops::argsort::attrs, std::int64_t>({0, 0}, {0, 3}, none).values.empty());
}

TEST_CASE("of a box that does not lie within the operand the error says why") {
  CHECK(complaint([] { run_kernel<ops::slice, float>(ops::box_attrs{{2}}, {3}, counted<float>({4})); },
                  fg::problem::slice_bounds) == "axis 0: 3 elements from 2 on do not lie within 4");
  CHECK(complaint(
            [] {
              run_kernel<ops::strided_slice, float>(ops::stride_attrs{{0}, {3}, {1}}, {3}, counted<float>({2}));
            },
            fg::problem::slice_bounds) == "axis 0: the bounds of strided_slice need more than 2 elements");
}

TEST_CASE("an index outside its axis is an error that names it") {
  const auto x = counted<float>({3, 2});
  const host_array<std::int64_t> third({2}, {0, 3}), corner({1, 2}, {2, 2}), far({1, 1}, {9}), wide({3, 1}, {0, 1, 2});
  const host_array<std::int32_t> negative({1}, {-1});
  const auto out_of_range = [](const auto& f) { return complaint(f, fg::problem::index_out_of_range); };
  CHECK(out_of_range([&] {
          run_kernel<ops::gather, float>(ops::gather_attrs{0}, {2, 2}, x, third);
        }) == "index 3 (element 1 of the indices) does not lie within an axis of 3");
  CHECK(out_of_range([&] {
          run_kernel<ops::gather, float>(ops::gather_attrs{0}, {1, 2}, x, negative);
        }) == "index -1 (element 0 of the indices) does not lie within an axis of 3");
  CHECK(out_of_range([&] { run_kernel<ops::gather_nd, float>(fg::no_attrs{}, {1}, x, corner); }) ==
        "index 2 (element 1 of the indices) does not lie within an axis of 2");
  CHECK(out_of_range([&] { run_kernel<ops::scatter_nd, float>(fg::no_attrs{}, {3}, far, counted<float>({1})); }) ==
        "index 9 (element 0 of the indices) does not lie within an axis of 3");
  CHECK(out_of_range([&] {
          run_kernel<ops::take_along_axis, float>(ops::gather_attrs{1}, {3, 1}, x, wide);
        }) == "index 2 (element 2 of the indices) does not lie within an axis of 2");
}

TEST_CASE("NaN sorts last in either direction, and equals keep their order") {
  const host_array<float> x({6}, {2, not_a_number, 1, 2, not_a_number, 3});
  const auto order = [&](std::int64_t descending) {
    return run_kernel<ops::argsort, float, ops::argsort::attrs, std::int64_t>({0, descending}, {6}, x).values;
  };
  CHECK(order(0) == positions{2, 0, 3, 5, 1, 4});
  CHECK(order(1) == positions{5, 0, 3, 2, 1, 4});
}

TEST_CASE("sorting along an outer axis sorts each column") {
  const host_array<std::int32_t> x({3, 2}, {5, 1, 4, 3, 6, 2});
  CHECK(run_kernel<ops::argsort, std::int32_t, ops::argsort::attrs, std::int64_t>({0, 0}, {3, 2}, x).values ==
        positions{1, 0, 0, 2, 2, 1});
}

TEST_CASE("the greatest of many come in order, the first of equals first, NaN last") {
  host_array<float> x({2, 5}, {3, 9, 9, 1, 7, not_a_number, 1, not_a_number, 2, 2}), values({2, 3});
  host_array<std::int64_t> at({2, 3});
  const fg::array_view in = x.view(), out[] = {values.view(), at.view()};
  fg::kernel_args k;
  k.in = &in;
  k.out = out;
  fg::cpu_kernel<ops::top_k>::run<float>(k);
  CHECK(holds(values, {9, 9, 7, 2, 2, 1}));
  CHECK(at.values == positions{1, 2, 4, 3, 4, 1});
}

TEST_CASE("NaN is the greatest and the least, as in NumPy") {
  const host_array<float> x({2, 3}, {1, not_a_number, not_a_number, 3, 0, 3});
  CHECK(run_kernel<ops::argmax, float, ops::argmax::attrs, std::int64_t>({1}, {2}, x).values == positions{1, 0});
  CHECK(run_kernel<ops::argmin, float, ops::argmin::attrs, std::int64_t>({1}, {2}, x).values == positions{1, 1});
  CHECK(run_kernel<ops::argmax, float, ops::argmax::attrs, std::int64_t>({0}, {3}, x).values == positions{1, 0, 0});
}

TEST_CASE("sums of integers wrap around") {
  const host_array<std::int32_t> x({2}, {std::numeric_limits<std::int32_t>::max(), 1});
  CHECK(run_kernel<ops::cumsum, std::int32_t>(ops::cumsum::attrs{0, 0, 0}, {2}, x).values[1] ==
        std::numeric_limits<std::int32_t>::min());
}

TEST_CASE("a range of halves is rounded once") {
  const auto y = run_kernel<ops::range, fg::half>(ops::range::attrs{0, ops::literal_word(0.1)}, {4});
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(y.values[i].bits == fg::half(static_cast<float>(0.1 * static_cast<double>(i))).bits);
}
