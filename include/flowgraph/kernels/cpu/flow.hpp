// Showing and checking values while a step runs.
#pragma once
#include <cstdio>
#include <cstring>
#include <string>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/flow.hpp>

namespace flowgraph {

namespace detail {

inline std::string text_of(const kernel_args& k) {
  std::string s(static_cast<std::size_t>(k.words[0]), '\0');
  for (std::size_t i = 0; i < s.size(); ++i) s[i] = ops::text_char(k.words, static_cast<int>(i));
  return s;
}

template <class T>
std::string element_text(T value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  char text[32];
  if constexpr (std::is_integral_v<T>)
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
  else
    std::snprintf(text, sizeof text, "%.6g", static_cast<double>(value));
  return text;
}

// [2, 3] 1 2 3 4 5 6: the extents, then the first elements, row by row.
template <class T>
std::string summary(const array_view& a, std::int64_t most = 32) {
  std::string s = "[";
  for (int i = 0; i < a.rank; ++i) s += (i > 0 ? ", " : "") + std::to_string(a.dim(i));
  s += ']';
  const std::int64_t n = a.size(), shown = n < most ? n : most;
  for (std::int64_t i = 0; i < shown; ++i) s += ' ' + element_text(a.as<const T>()[i]);
  if (shown < n) s += " ...";
  return s;
}

}  // namespace detail

template <>
struct cpu_kernel<ops::print> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    // One call, so that lines of steps that run at the same time stay whole.
    const std::string line = detail::text_of(k) + ' ' + detail::summary<T>(k.in[0]) + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
    const auto bytes = static_cast<std::size_t>(k.in[0].size()) * sizeof(T);
    if (bytes > 0) std::memcpy(k.out[0].data, k.in[0].data, bytes);
  }
};

template <>
struct cpu_kernel<ops::check_numerics> {
  using types = type_list<half, bfloat16, float, double>;
  template <class T>
  static void run(const kernel_args& k) {
    const T* const x = k.in[0].as<const T>();
    T* const y = k.out[0].as<T>();
    const std::int64_t n = k.in[0].size();
    for (std::int64_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(x[i]);
      if (value - value != 0)
        throw execution_error(problem::not_finite, detail::text_of(k) + " (element " + std::to_string(i) + " of " +
                                                       std::to_string(n) + " is " + detail::element_text(value) + ')');
      y[i] = x[i];
    }
  }
};

template <>
struct cpu_kernel<ops::check> {
  using types = type_list<bool>;
  template <class T>
  static void run(const kernel_args& k) {
    const T* const x = k.in[0].as<const T>();
    const std::int64_t n = k.in[0].size();
    for (std::int64_t i = 0; i < n; ++i)
      if (!x[i])
        throw execution_error(problem::check_failed, detail::text_of(k) + " (element " + std::to_string(i) + " of " +
                                                         std::to_string(n) + " is false)");
  }
};

using flow_kernels = type_list<ops::print, ops::check_numerics, ops::check>;

}  // namespace flowgraph
