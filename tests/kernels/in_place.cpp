// Kernels of ops that may write over their first operand give the same there as elsewhere.
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/kernels/cpu/linalg.hpp>
#include <flowgraph/kernels/cpu/softmax.hpp>

#include "support/run_kernel.hpp"

namespace fg = flowgraph;
using fg::testing::host_array;

namespace {

// With the result in the place of the first operand.
template <class Op, class T, class Attrs, class... Rest>
host_array<T> run_over(const Attrs& attributes, host_array<T> x, Rest... rest) {
  const fg::array_view operands[] = {x.view(), rest.view()...};
  const auto words = fg::detail::words_of(attributes);
  fg::cpu_kernel<Op>::template run<T>(fg::testing::arguments(operands, 1 + sizeof...(Rest), operands, words));
  return x;
}

template <class Op, class T, class Attrs, class... Rest>
void check_over(const Attrs& attributes, const host_array<T>& x, const Rest&... rest) {
  static_assert(fg::op_def_of<Op>.is(fg::trait::in_place));
  const host_array<T> elsewhere = fg::testing::run_kernel<Op, T>(attributes, x.dims, x, rest...);
  CHECK(run_over<Op, T>(attributes, x, rest...).values == elsewhere.values);
}

template <class T>
host_array<T> numbers(std::vector<std::int64_t> dims) {
  host_array<T> a(std::move(dims));
  for (std::size_t i = 0; i < a.values.size(); ++i)
    a.values[i] = static_cast<T>(3 * std::sin(1.7 * static_cast<double>(i)));
  return a;
}

template <class T>
void check_all() {
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{4}, {3, 4}, {5, 3, 7}, {2, 300, 2}, {1, 5000}})
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(dims.size()); ++axis) {
      CAPTURE(axis);
      check_over<fg::ops::softmax>(fg::ops::axis_attrs{axis}, numbers<T>(dims));
      check_over<fg::ops::log_softmax>(fg::ops::axis_attrs{axis}, numbers<T>(dims));
    }
  check_over<fg::ops::softmax_minus_one_hot>(fg::no_attrs{}, numbers<T>({3, 4}),
                                             host_array<std::int64_t>({3}, {1, 3, 0}));
  check_over<fg::ops::band_part>(fg::ops::band_part::attrs{1, 0}, numbers<T>({2, 4, 5}));
}

}  // namespace

TEST_CASE("over the operand as elsewhere") {
  check_all<float>();
  check_all<double>();
}
