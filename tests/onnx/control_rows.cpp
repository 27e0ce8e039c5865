#include <cstdint>
#include <string>
#include <tuple>

#include <flowgraph/define.hpp>

#include "rows.hpp"

namespace flowgraph::testing {

namespace {

constexpr dim batch{"batch"};
constexpr dim steps{"steps"};

using matrix = tensor<float, batch, 3>;

}  // namespace

// Branches and loops are written as If and Loop, and read as such.
void control_rows() {
  const row_options written{.extents = {batch(2), steps(4)}};
  row<tensor<bool>, matrix, matrix>(
      "cond",
      [](auto which, auto x, auto y) {
        return cond(
            which, [&] { return std::tuple(x * y + 1.0f, x); }, [&] { return std::tuple(exp(x), y); });
      },
      written);
  for (const int which : {0, 1, 2, 7})  // no branch has the last
    row<tensor<std::int64_t>, matrix, matrix>("switch_case_" + std::to_string(which),
                                              [](auto index, auto x, auto y) {
                                                return switch_case(
                                                    index, [&] { return std::tuple(x * 2.0f, y); },
                                                    [&] { return std::tuple(y, x); },
                                                    [&] { return std::tuple(x - y, x + y); });
                                              },
                                              {.low = which + 0.0, .high = which + 0.5, .extents = {batch(2)}});
  row<matrix, tensor<float, 3, 3>>(
      "while_loop",
      [](auto x, auto w) {
        return while_loop([](auto h) { return reduce_sum(abs(h)) < 50.0f; },
                          [&](auto h) { return relu(matmul(h, w)) + x * 2.0f; }, x);
      },
      written);
  row<matrix>(
      "bounded_loop",
      [](auto x) {
        return while_loop(
            loop_options{.maximum_iterations = 3}, [](auto h) { return reduce_max(h) < 1e9f; },
            [&](auto h) {
              return cond(
                  reduce_sum(h) > 0.0f, [&] { return h * 3.0f; }, [&] { return h - x; });
            },
            x);
      },
      written);
  row<tensor<float, steps, batch, 3>, tensor<float, 3, 3>>(
      "scan",
      [](auto xs, auto w) {
        return scan(
            [&](auto h, auto x) {
              const auto next = tanh(matmul(h, w) + x);
              return std::tuple(next, next);
            },
            zeros_like(squeeze<0>(slice<from<0, 0, 0>, 1, batch, 3>(xs))), xs);
      },
      written);
  row<tensor<float, steps, batch, 3>, tensor<float, 3, 3>>(
      "scan_gradient",
      [](auto xs, auto w) {
        const auto [last, all] = scan(
            [&](auto h, auto x) {
              const auto next = tanh(matmul(h, w) + x);
              return std::tuple(next, next);
            },
            zeros_like(squeeze<0>(slice<from<0, 0, 0>, 1, batch, 3>(xs))), xs);
        return gradients(reduce_sum(square(all)) + reduce_sum(last), xs, w);
      },
      written);
}

}  // namespace flowgraph::testing
