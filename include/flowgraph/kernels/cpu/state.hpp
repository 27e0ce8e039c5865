// Updates of variables. The first operand is the variable's own memory.
#pragma once
#include <cstring>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/state.hpp>
#include "absorbed.hpp"
#include "gather.hpp"

namespace flowgraph {

namespace detail {

template <class T>
void subtract_run(T* out, const T* in, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = minus(out[i], in[i]);
}

// f(part of the variable, the same part of the operand, length). The operand may be computed just then from the
// variable, but only element by element.
template <class T, class F>
void update(const kernel_args& k, const F& f) {
  const std::int64_t steps = k.region == nullptr ? 0 : k.region->steps.count;
  parallel_for(k, k.in[0].size(), part_size(1 + steps, 1024), [&](std::int64_t first, std::int64_t last) {
    T* to = k.in[0].as<T>() + first;
    absorbed_operand<T>(k, 1).read(first, last - first, [&](const T* from, std::int64_t n) {
      f(to, from, n);
      to += n;
    });
  });
}

// f(row of the variable, row of the operand, length) for every index. All of them are checked before the first row
// changes: a step that fails leaves the variable whole.
template <class T, class F>
void for_each_updated_row(const kernel_args& k, const F& f) {
  const around_axis variable(k.in[0], 0);
  const positions index(k.in[1]);
  const std::int64_t n = k.in[1].size();
  for (std::int64_t i = 0; i < n; ++i) index.at(i, variable.extent);
  T* const to = k.in[0].as<T>();
  const T* const rows = k.in[2].as<const T>();
  for (std::int64_t i = 0; i < n; ++i)
    f(to + index.at(i, variable.extent) * variable.inner, rows + i * variable.inner, variable.inner);
}

}  // namespace detail

template <>
struct cpu_kernel<ops::assign> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::update<T>(k, [](T* to, const T* from, std::int64_t n) {
      std::memmove(to, from, static_cast<std::size_t>(n) * sizeof(T));  // the value may be the variable itself
    });
  }
};

template <>
struct cpu_kernel<ops::assign_add> {
  using types = rounded_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::update<T>(k, detail::add_elements<T>);
  }
};

template <>
struct cpu_kernel<ops::assign_sub> {
  using types = rounded_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::update<T>(k, detail::subtract_run<T>);
  }
};

template <>
struct cpu_kernel<ops::scatter_add> {
  using types = rounded_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::for_each_updated_row<T>(k, detail::add_elements<T>);
  }
};

template <>
struct cpu_kernel<ops::scatter_sub> {
  using types = rounded_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::for_each_updated_row<T>(k, detail::subtract_run<T>);
  }
};

template <>
struct cpu_kernel<ops::scatter_update> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::for_each_updated_row<T>(k, [](T* to, const T* from, std::int64_t n) { std::copy_n(from, n, to); });
  }
};

using state_kernels =
    type_list<ops::assign, ops::assign_add, ops::assign_sub, ops::scatter_add, ops::scatter_sub, ops::scatter_update>;

}  // namespace flowgraph
