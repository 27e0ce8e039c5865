// An op of your own: sparsemax, a softmax that gives most classes a probability of exactly 0 (Martins, Astudillo 2016).
//
//   x [batch, 64] --> matmul w [64, 10] + b --> z [batch, 10] --> sparsemax --> p [batch, 10]
//
//   z, p, y [batch] --> p z - p p / 2 + 1/2 - z[y], summed over classes --> mean = loss --> adam --> train
//
// The rule, the gradient and the kernel below are all that flowgraph has to know of it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <flowgraph.hpp>

#include "support/digits.hpp"

namespace fg = flowgraph;

// y is the point of the simplex (y >= 0, sum(y) = 1 along the last axis) that is nearest to x: max(x - tau, 0).
struct sparsemax : fg::op<sparsemax, "sparsemax"> {
  static constexpr void infer(fg::inference& f) {
    f.require(fg::is_floating(f.type(0)), fg::problem::needs_floating);
    f.require(f.in(0).rank >= 1, fg::problem::operand_rank);
    f.out(f.in(0), f.type(0));
  }
  // With s = 1 where y > 0, else 0:  dx = s (dy - sum(s dy) / sum(s)). Written with ops, it has derivatives itself.
  static constexpr void gradient(fg::gradient_step& g) {
    const fg::ref y = g.y(), dy = g.dy(), s = fg::emit<fg::ops::sign>(y);
    const std::int64_t axis = y.rank() - 1;
    g.to(0, s * (dy - fg::ops::sum_along(s * dy, axis) / fg::ops::sum_along(s, axis)));
  }
};

// A kernel gets pointers and extents, and allocates nothing.
template <>
struct fg::cpu_kernel<sparsemax> {
  using types = fg::type_list<float, double>;
  template <class T>
  static void run(const fg::kernel_args& k) {
    const T* x = k.in[0].as<T>();
    T* y = k.out[0].as<T>();
    const std::int64_t n = k.in[0].last(0), rows = n == 0 ? 0 : k.in[0].size() / n;
    for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
      // Who is at or below tau gets nothing; of the others tau = (sum - 1) / count. Tau only grows, so this ends.
      T tau = std::numeric_limits<T>::lowest();
      for (std::int64_t before = n + 2, count = n + 1; count > 0 && count < before;) {
        before = std::exchange(count, 0);
        T sum = 0;
        for (std::int64_t i = 0; i < n; ++i)
          if (x[i] > tau) sum += x[i], ++count;
        tau = (sum - 1) / static_cast<T>(count);
      }
      for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] <= tau ? T(0) : x[i] - tau;  // NaN stays
    }
  }
};
inline const fg::register_kernel<sparsemax> sparsemax_kernel;  // for graphs that the program builds

inline constexpr fg::dim batch{"batch"};

inline constexpr auto digits = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto z = g.name("z", fg::layers::dense<10>(x, "out"));
  auto p = fg::apply<sparsemax>(z);
  static_assert(std::is_same_v<decltype(p), fg::tensor<float, batch, 10>>);
  auto loss = g.name("loss", reduce_mean(reduce_sum<1>(p * z - 0.5f * p * p - fg::one_hot<10>(y) * z) + 0.5f));
  g.name("accuracy", reduce_mean(cast<float>(equal(argmax<1>(p), y))));
  g.name("possible", reduce_sum(sign(p)) / reduce_sum(p));  // classes of an image that are not ruled out
  g.name("train", fg::adam(0.01).minimize(loss));
});

// The op in a graph that is built now, in double: its gradient against differences of its value.
double gradient_error() {
  fg::graph g;
  auto x = g.placeholder<double, 2, 6>("x");
  auto weights = g.constant<double, 6>({0.3, -1.1, 0.7, 2.0, -0.4, 0.9});
  auto f = reduce_sum(square(fg::apply<sparsemax>(x)) * weights);
  auto df = fg::gradients(f, x);
  fg::dynamic_session s(g);

  fg::ndarray<double, 2, 6> at{{0.1, 0.8, -0.3, 0.55, 0.2, 0.9}, {1.5, -2.0, 1.2, 0.3, 1.45, 0.0}};
  const auto exact = s.run(df, fg::feed(x, at));
  double worst = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 6; ++j) {
      constexpr double h = 1e-5;
      const double middle = at(i, j);
      at(i, j) = middle + h;
      const double above = s.run(f, fg::feed(x, at));
      at(i, j) = middle - h;
      const double below = s.run(f, fg::feed(x, at));
      at(i, j) = middle;
      worst = std::max(worst, std::abs((above - below) / (2 * h) - exact(i, j)));
    }
  return worst;
}

int main(int argc, char** argv) try {
  const double error = gradient_error();
  fmt::print("its gradient differs from finite differences by at most {:.0e}\n", error);

  const example::digits_data data(example::data_directory(argc, argv));
  fg::session<digits> s({.threads = 1, .seed = 42});
  constexpr std::size_t size = 64;
  const std::size_t images = data.train.labels.size();
  for (int epoch = 1; epoch <= 20; ++epoch) {
    float loss = 0;
    for (std::size_t first = 0; first < images; first += size) {
      const std::size_t n = std::min(size, images - first);
      loss = s.run<"loss", "train">(fg::feed<"x">(std::span(data.train.pixels).subspan(64 * first, 64 * n)),
                                    fg::feed<"y">(std::span(data.train.labels).subspan(first, n)));
    }
    if (epoch % 5 == 0) fmt::print("epoch {:2}: loss {:.4f}\n", epoch, loss);
  }
  const auto [accuracy, possible] =
      s.run<"accuracy", "possible">(fg::feed<"x">(data.test.pixels), fg::feed<"y">(data.test.labels));
  fmt::print(
      "{:.2f}% of {} images that it has not seen are read correctly; {:.2f} of 10 digits are possible for an image\n",
      100 * accuracy, data.test.labels.size(), possible);
  return error < 1e-8 && accuracy >= 0.93f && possible < 3 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
