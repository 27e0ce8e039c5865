// The numbers that a variable begins with, from its initialiser (language/init.hpp) and a random stream.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <flowgraph/core/list.hpp>
#include <flowgraph/kernels/cpu/elementwise.hpp>
#include <flowgraph/kernels/cpu/row_product.hpp>
#include <flowgraph/kernels/cpu/runs.hpp>
#include <flowgraph/kernels/distributions.hpp>
#include <flowgraph/language/init.hpp>

namespace flowgraph::detail {

// Inputs and outputs of one unit: the last two extents, times what lies before them (the window of a filter).
struct fan {
  double in = 1, out = 1;

  explicit fan(const list<std::int64_t>& dims) {
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
list<Real> orthonormal(const random_stream& stream, std::int64_t n, std::int64_t length) {
  list<Real> all(static_cast<std::size_t>(n * length));
  fill_normal(stream, all.data(), n * length, 0, 1);
  for (std::int64_t k = 0; k < n; ++k) {
    Real* const v = all.data() + k * length;
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t j = 0; j < k; ++j) {
        const Real* const q = all.data() + j * length;
        add_scaled_run(v, q, -dot_product(q, v, length), length);
      }
    divide_run(v, std::sqrt(dot_product(v, v, length)), length);
  }
  return all;
}

template <class T>
void fill_orthogonal(T* to, const list<std::int64_t>& dims, std::int64_t n, const random_stream& stream, double gain) {
  if (n == 0) return;
  const std::int64_t columns = dims.back(), rows = n / columns, many = std::min(rows, columns);
  const list<double> q = orthonormal(stream, many, n / many);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to[i * columns + j] =
          convert<T>(gain * q[static_cast<std::size_t>(rows < columns ? i * columns + j : j * rows + i)]);
}

// Numbers between a and b, or normal ones of mean a and deviation b.
struct drawn_from {
  bool uniform;
  double a, b;
};
template <class Tag = void>
drawn_from distribution_of(const initial_value& initial, const list<std::int64_t>& dims) {
  using enum initializer;
  const initializer kind = initial.kind;
  if (kind == uniform || kind == normal) return {kind == uniform, initial.a, initial.b};
  const fan units(dims);
  const bool glorot = kind == glorot_uniform || kind == glorot_normal;
  const bool lecun = kind == lecun_uniform || kind == lecun_normal;
  const double variance = glorot ? 2 / (units.in + units.out) : (lecun ? 1 : 2) / units.in;
  if (kind == glorot_uniform || kind == he_uniform || kind == lecun_uniform)
    return {true, -std::sqrt(3 * variance), std::sqrt(3 * variance)};
  return {false, 0, std::sqrt(variance)};
}

// a + b, where b is what an integer has more than a double can say.
template <class T>
T constant_number(const initial_value& initial) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (initial.b != 0) {
      const auto whole = initial.a < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(initial.a))
                                       : static_cast<std::uint64_t>(initial.a);
      const auto exact =
          static_cast<std::int64_t>(whole + static_cast<std::uint64_t>(static_cast<std::int64_t>(initial.b)));
      return static_cast<T>(ops::number_word<T>(exact));
    }
  }
  return convert<T>(initial.a);
}

// Of a kind that check_initial (language/init.hpp) allows for this type and these extents.
template <class T>
void fill_initial(T* to, const list<std::int64_t>& dims, std::int64_t n, const random_stream& stream,
                  const initial_value& initial) {
  switch (initial.kind) {
    case initializer::constant:
      std::fill_n(to, n, constant_number<T>(initial));
      break;
    case initializer::truncated_normal:
      if constexpr (is_floating(dtype_of<T>)) fill_truncated_normal(stream, to, n, initial.a, initial.b);
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
    default:
      if (const drawn_from d = distribution_of(initial, dims); d.uniform) {
        if constexpr (!std::is_same_v<T, bool>) fill_uniform(stream, to, n, d.a, d.b);
      } else {
        if constexpr (is_floating(dtype_of<T>)) fill_normal(stream, to, n, d.a, d.b);
      }
  }
}

}  // namespace flowgraph::detail
