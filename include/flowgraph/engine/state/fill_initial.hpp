// The numbers that a variable begins with, from its initialiser (language/init.hpp) and a random stream.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <Eigen/Core>

#include <flowgraph/kernels/cpu/elementwise.hpp>
#include <flowgraph/kernels/distributions.hpp>
#include <flowgraph/language/init.hpp>

namespace flowgraph::detail {

// Inputs and outputs of one unit: the last two extents, times what lies before them (the window of a filter).
struct fan {
  double in = 1, out = 1;

  explicit fan(const std::vector<std::int64_t>& dims) {
    if (dims.size() == 1) in = out = static_cast<double>(dims[0]);
    if (dims.size() < 2) return;
    double window = 1;
    for (std::size_t i = 0; i + 2 < dims.size(); ++i) window *= static_cast<double>(dims[i]);
    in = window * static_cast<double>(dims[dims.size() - 2]);
    out = window * static_cast<double>(dims[dims.size() - 1]);
  }
};

// n orthonormal vectors of `length` >= n numbers, one after another, from normal ones by Gram and Schmidt: that is Q of
// A = QR with a positive diagonal of R. Done twice, because one pass leaves what rounding makes of nearly parallel
// vectors.
template <class Real = double>
std::vector<Real> orthonormal(const random_stream& stream, std::int64_t n, std::int64_t length) {
  std::vector<Real> all(static_cast<std::size_t>(n * length));
  fill_normal(stream, all.data(), n * length, 0, 1);
  using vector = Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>>;
  for (std::int64_t k = 0; k < n; ++k) {
    vector v(all.data() + k * length, length);
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t j = 0; j < k; ++j) {
        const vector q(all.data() + j * length, length);
        v -= (q * v).sum() * q;
      }
    v /= std::sqrt((v * v).sum());
  }
  return all;
}

template <class T>
void fill_orthogonal(T* to, const std::vector<std::int64_t>& dims, std::int64_t n, const random_stream& stream,
                     double gain) {
  if (n == 0) return;
  const std::int64_t columns = dims.back(), rows = n / columns, many = std::min(rows, columns);
  const std::vector<double> q = orthonormal(stream, many, n / many);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to[i * columns + j] =
          convert<T>(gain * q[static_cast<std::size_t>(rows < columns ? i * columns + j : j * rows + i)]);
}

// Of a kind that check_initial (language/init.hpp) allows for this type and these extents.
template <class T>
void fill_initial(T* to, const std::vector<std::int64_t>& dims, std::int64_t n, const random_stream& stream,
                  const initial_value& initial) {
  const fan units(dims);
  const auto uniform = [&](double low, double high) {
    if constexpr (!std::is_same_v<T, bool>) fill_uniform(stream, to, n, low, high);
  };
  const auto normal = [&](double mean, double deviation) {
    if constexpr (is_floating(dtype_of<T>)) fill_normal(stream, to, n, mean, deviation);
  };
  const auto within = [&](double variance) { uniform(-std::sqrt(3 * variance), std::sqrt(3 * variance)); };
  const auto around = [&](double variance) { normal(0, std::sqrt(variance)); };
  switch (initial.kind) {
    case initializer::constant:
      std::fill_n(to, n, convert<T>(initial.a));
      break;
    case initializer::uniform:
      uniform(initial.a, initial.b);
      break;
    case initializer::normal:
      normal(initial.a, initial.b);
      break;
    case initializer::truncated_normal:
      if constexpr (is_floating(dtype_of<T>)) fill_truncated_normal(stream, to, n, initial.a, initial.b);
      break;
    case initializer::glorot_uniform:
      within(2 / (units.in + units.out));
      break;
    case initializer::glorot_normal:
      around(2 / (units.in + units.out));
      break;
    case initializer::he_uniform:
      within(2 / units.in);
      break;
    case initializer::he_normal:
      around(2 / units.in);
      break;
    case initializer::lecun_uniform:
      within(1 / units.in);
      break;
    case initializer::lecun_normal:
      around(1 / units.in);
      break;
    case initializer::orthogonal:
      if constexpr (is_floating(dtype_of<T>)) fill_orthogonal(to, dims, n, stream, initial.a);
      break;
    case initializer::identity:
      std::fill_n(to, n, T{});
      for (std::int64_t i = 0; i < std::min(dims[0], dims[1]); ++i) to[i * dims[1] + i] = convert<T>(initial.a);
      break;
    case initializer::values:  // the store has them
      break;
  }
}

}  // namespace flowgraph::detail
