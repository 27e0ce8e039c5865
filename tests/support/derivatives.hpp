// Derivatives that no golden holds: second ones, which are gradients of a gradient's graph, and those at points where a
// formula is easily wrong.
#pragma once
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/functions/reduction.hpp>
#include <flowgraph/language/gradients.hpp>

#include "op_rows.hpp"

namespace flowgraph::testing {

namespace detail {

template <class T>
golden_array spread_numbers(double first, double step) {
  golden_array a;
  a.dtype = "f64";
  std::size_t n = 1;
  for (int i = 0; i < T::rank; ++i) {
    a.dims.push_back(T::shape.number[i]);
    n *= static_cast<std::size_t>(T::shape.number[i]);
  }
  // No two are near each other and none is near 0, where an extremum or a norm has a kink.
  for (std::size_t i = 0; i < n; ++i) {
    const double x = first + step * static_cast<double>((i * 7) % n);
    a.values.push_back(i % 3 == 1 ? -x : x);
  }
  return a;
}

}  // namespace detail

// X: tensor<double, extents as numbers...>. The gradient by x of sum(f(x)^2), differentiated again.
template <class X, class F>
void check_second_order(const F& f) {
  graph g;
  const auto in = detail::input(g, std::type_identity<X>{});
  const auto dx = gradients(reduce_sum(square(f(in))), in);
  golden_case c;
  c.name = "second derivative";
  c.in.push_back(detail::spread_numbers<X>(0.4, 0.23));
  c.weight = detail::spread_numbers<X>(0.5, 0.11);
  c.grads.emplace_back(0, c.in[0]);
  detail::check_differences(c, g.data(), {{in.id}, {dx.id}});
}

// The gradient of sum(f(x)) at x.
template <class X, class F>
void check_gradient_at(const F& f, const std::vector<double>& x, const std::vector<double>& expected) {
  graph g;
  const auto in = detail::input(g, std::type_identity<X>{});
  const auto dx = gradients(reduce_sum(f(in)), in);
  golden_case c;
  c.name = "gradient at a point";
  c.in.push_back(detail::spread_numbers<X>(0, 0));
  c.out = c.in;
  c.in[0].values = x;
  c.out[0].values = expected;
  detail::check_values(c, g.data(), {{in.id}, {dx.id}}, 0);
}

}  // namespace flowgraph::testing
