// Ridge regression on the diabetes data, twice in one graph: in closed form, and by gradient descent.
//
//   x [rows, 10] --+--> xT x + lambda I ---------+--> solve --> closed_w [10, 1]
//   y [rows, 1]  --+--> mean = closed_b          |
//                  +--> xT (y - mean) -----------+
//
//   x, y, w, b ----> |x w + b - y|^2 + lambda |w|^2 = cost --> gradients(cost, w, b) --> dw [10, 1], db []
//                                                              w -= rate dw,  b -= db / (2 rows)  = descend
//
// The features have mean 0, so that the best b is the mean of y whatever w is.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <flowgraph.hpp>

#include "support/table.hpp"

namespace fg = flowgraph;

inline constexpr fg::dim rows{"rows"};
inline constexpr double lambda = 1;

inline constexpr auto ridge = fg::define([](fg::graph& g) {
  auto x = g.placeholder<double, rows, 10>("x");
  auto y = g.placeholder<double, rows, 1>("y");

  auto mean = g.name("closed_b", reduce_mean(y));
  auto normal = matmul<fg::transpose_a>(x, x) + diag(fg::fill<double, 10>(g, lambda));  // [10, 10]
  g.name("closed_w", solve(normal, matmul<fg::transpose_a>(x, y - mean)));              // [10, 1]

  auto w = g.variable<double, 10, 1>("w");
  auto b = g.variable<double>("b");
  auto guess = g.name("guess", matmul(x, w) + b);
  auto cost = reduce_sum(square(guess - y)) + lambda * reduce_sum(square(w));
  auto [dw, db] = fg::gradients(cost, w, b);
  static_assert(std::is_same_v<decltype(dw), fg::tensor<double, 10, 1>>);
  auto count = reduce_sum(ones_like(y));
  g.name("cost", cost);
  g.name("descend", group(assign_sub(w, 0.15 * dw), assign_sub(b, db / (2.0 * count))));
});

struct ridge_solution {
  fg::ndarray<double, 10, 1> w;
  double b = 0;
};
struct ridge_result {
  ridge_solution closed, descended;
  double cost = 0;
};

inline ridge_result solve_ridge(const example::table& data, int steps) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < data.rows; ++i) {
    for (std::size_t j = 0; j < 10; ++j) x.push_back(data.at(i, j));
    y.push_back(data.at(i, 10));
  }
  fg::session<ridge> s;
  const auto feed_x = fg::feed<"x">(x);
  const auto feed_y = fg::feed<"y">(y);
  ridge_result r;
  std::tie(r.closed.w, r.closed.b) = s.run<"closed_w", "closed_b">(feed_x, feed_y);
  for (int i = 0; i < steps; ++i) s.run<"descend">(feed_x, feed_y);
  r.cost = s.run<"cost">(feed_x, feed_y);
  r.descended = {s.get<"w">(), s.get<"b">()};
  return r;
}

inline double largest_difference(const ridge_solution& a, const ridge_solution& b) {
  double most = std::abs(a.b - b.b);
  for (int i = 0; i < 10; ++i) most = std::max(most, std::abs(a.w(i, 0) - b.w(i, 0)));
  return most;
}

int main(int argc, char** argv) try {
  const auto data = example::read_csv(example::data_directory(argc, argv) + "/diabetes.csv", true);
  const ridge_result r = solve_ridge(data, 300);
  fmt::print("weights in closed form, and by 300 steps down the gradient\n");
  for (int i = 0; i < 10; ++i) fmt::print("{:12.4f} {:12.4f}\n", r.closed.w(i, 0), r.descended.w(i, 0));
  fmt::print("intercept {:.4f} and {:.4f}; cost {:.2f}\n", r.closed.b, r.descended.b, r.cost);
  const double difference = largest_difference(r.closed, r.descended);
  fmt::print("they differ by at most {:.1e}\n", difference);
  return difference < 1e-4 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
