// Updates of variables, checks, prints and users' functions, as kernels.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <flowgraph/kernels/cpu/flow.hpp>
#include <flowgraph/kernels/cpu/state.hpp>
#include <flowgraph/ops/host_call.hpp>
#include "support/run_kernel.hpp"

namespace fg = flowgraph;
namespace ops = fg::ops;
using fg::testing::host_array;

namespace {

// Runs an update; the first array is the variable.
template <class Op, class T, class... In>
void update(host_array<T>& variable, In... in) {
  const fg::array_view operands[] = {variable.view(), in.view()...};
  fg::kernel_args k;
  k.in = operands;
  k.n_in = 1 + static_cast<int>(sizeof...(In));
  fg::cpu_kernel<Op>::template run<T>(k);
}

using floats = std::vector<float>;

void add_columns(fg::array_ref<const float> x, fg::array_ref<const std::int32_t> n, fg::array_ref<float> y) {
  for (std::int64_t i = 0; i < x.dim(0); ++i) {
    y[i] = static_cast<float>(n[0]);
    for (std::int64_t j = 0; j < x.dim(1); ++j) y[i] += x(i, j);
  }
}

}  // namespace

TEST_CASE("assignments write the variable's memory") {
  host_array<float> v({2, 2}, {1, 2, 3, 4});
  const host_array<float> x({2, 2}, {10, 20, 30, 40});
  update<ops::assign_add>(v, x);
  CHECK(v.values == floats{11, 22, 33, 44});
  update<ops::assign_sub>(v, x);
  CHECK(v.values == floats{1, 2, 3, 4});
  update<ops::assign>(v, x);
  CHECK(v.values == floats{10, 20, 30, 40});
}

TEST_CASE("half adds through float") {
  host_array<fg::half> v({1}, {fg::half(1.5f)});
  update<ops::assign_add>(v, host_array<fg::half>({1}, {fg::half(0.25f)}));
  CHECK(static_cast<float>(v.values[0]) == 1.75f);
}

TEST_CASE("rows at repeated indices add up; the last update stays") {
  host_array<float> v({3, 2});
  const host_array<std::int32_t> at({3}, {2, 0, 2});
  const host_array<float> rows({3, 2}, {1, 2, 3, 4, 5, 6});
  update<ops::scatter_add>(v, at, rows);
  CHECK(v.values == floats{3, 4, 0, 0, 6, 8});
  update<ops::scatter_sub>(v, at, rows);
  CHECK(v.values == floats{0, 0, 0, 0, 0, 0});
  update<ops::scatter_update>(v, at, rows);
  CHECK(v.values == floats{3, 4, 0, 0, 5, 6});
}

TEST_CASE("a wrong index leaves the variable as it was") {
  host_array<float> v({2}, {1, 2});
  CHECK_THROWS_AS(update<ops::scatter_add>(v, host_array<std::int64_t>({2}, {0, 2}), host_array<float>({2}, {5, 5})),
                  fg::execution_error);
  CHECK(v.values == floats{1, 2});
}

TEST_CASE("check stops with its message and the first element that is false") {
  const std::string message = "weights must be finite: \xC3\xA4";  // longer than a word, and not only ASCII
  const auto words = ops::text_words(message);
  host_array<std::uint8_t> truth({3}, {1, 1, 1});
  fg::array_view in = truth.view();
  in.type = fg::dtype::boolean;
  fg::kernel_args k;
  k.in = &in;
  k.words = words.begin();
  k.n_words = words.size();
  CHECK_NOTHROW(fg::cpu_kernel<ops::check>::run<bool>(k));
  truth.values[1] = 0;
  try {
    fg::cpu_kernel<ops::check>::run<bool>(k);
    FAIL("no error");
  } catch (const fg::execution_error& e) {
    CHECK(e.why() == fg::problem::check_failed);
    CHECK(std::string(e.what()) == message + " (element 1 of 3 is false)");
  }
}

TEST_CASE("a tensor is shown by its extents and first elements") {
  host_array<float> x({2, 2}, {1, -0.5f, 1e10f, 3});
  CHECK(fg::detail::summary<float>(x.view()) == "[2, 2] 1 -0.5 1e+10 3");
  CHECK(fg::detail::summary<float>(x.view(), 2) == "[2, 2] 1 -0.5 ...");
  host_array<std::int64_t> n({}, {7});
  CHECK(fg::detail::summary<std::int64_t>(n.view()) == "[] 7");
}

TEST_CASE("a user's function gets typed arrays with their extents") {
  host_array<float> x({2, 3}, {1, 2, 3, 4, 5, 6}), y({2});
  host_array<std::int32_t> n({}, {100});
  const fg::array_view in[] = {x.view(), n.view()}, out = y.view();
  fg::kernel_args k;
  k.in = in;
  k.out = &out;
  ops::host_call<"add_columns", add_columns, float, float, std::int32_t>::run(k);
  CHECK(y.values == floats{106, 115});
}
