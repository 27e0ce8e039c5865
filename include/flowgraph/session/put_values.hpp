// Values of a step into memory that the caller has already: run_into of both sessions.
#pragma once
#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "static_step.hpp"

namespace flowgraph::detail {

// A number.
template <element T>
void put_value(T& to, const step_values& done, std::size_t k) {
  done.copy(k, &to);
}
// An array keeps its memory where the extents are the same, and takes new extents where they are not.
template <class T, auto... E>
void put_value(ndarray<T, E...>& to, const step_values& done, std::size_t k) {
  if (std::equal(to.dims().begin(), to.dims().end(), done.view(k).dims))
    done.copy(k, to.data());
  else
    to = take_value<ndarray<T, E...>>(done, k);
}
template <class T, auto... E>
void put_value(const ndview<T, E...>& to, const step_values& done, std::size_t k) {
  if (!std::equal(to.dims().begin(), to.dims().end(), done.view(k).dims)) refuse_target(done.view(k), to.dims().data());
  done.copy(k, to.data());
}

template <class Target, class Value>
inline constexpr bool is_target = std::is_same_v<Target, Value>;
template <class T, auto... E>
inline constexpr bool is_target<ndview<T, E...>, ndarray<T, E...>> = true;

// What run_into is given: one target, or several in a std::tie.
template <class Target>
std::tuple<Target&> targets_of(Target& one) {
  return {one};
}
template <class... Target>
std::tuple<Target&...> targets_of(std::tuple<Target&...>& several) {
  return several;
}

template <class Targets, class Values>
struct target_check;
template <class... Target, class... Value>
struct target_check<std::tuple<Target&...>, std::tuple<Value...>> {
  static constexpr bool check() {
    if constexpr (sizeof...(Target) != sizeof...(Value)) {
      mistake<problem::result_targets, std::tuple<Target...>, required<std::tuple<Value...>>>();
      return false;
    } else if constexpr (!(is_target<std::remove_const_t<Target>, Value> && ...)) {
      mistake<problem::result_targets, std::tuple<Target...>, required<std::tuple<Value...>>>();
      return false;
    } else {
      return true;
    }
  }
};

template <class... Target>
void put_values(const step_values& done, const std::tuple<Target&...>& targets) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (put_value(std::get<I>(targets), done, I), ...);
  }(std::index_sequence_for<Target...>{});
}

}  // namespace flowgraph::detail
