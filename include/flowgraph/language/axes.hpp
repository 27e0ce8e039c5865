// Axes as template arguments: negative ones count from the back, and a wrong one is a diagnostic of its own.
#pragma once
#include <cstdint>

#include "tensor.hpp"

namespace flowgraph {

// reduce_sum<1>(x, fg::keepdims): a reduced axis stays, with extent 1.
struct keepdims_t {};
inline constexpr keepdims_t keepdims{};

namespace detail {

// Axis A of T, counted from the front.
template <class T, std::int64_t A>
constexpr int axis_of() {
  if constexpr (A < -T::rank || A >= T::rank) {
    mistake<problem::axis_out_of_range, axes<A>, T>();
    return 0;
  } else {
    return static_cast<int>(A < 0 ? A + T::rank : A);
  }
}

// Bit i: axis i is named. No axes: all of them.
template <class T, std::int64_t... A>
constexpr std::int64_t axis_mask() {
  if constexpr (sizeof...(A) == 0) {
    return (std::int64_t{1} << T::rank) - 1;
  } else if constexpr (((A < -T::rank || A >= T::rank) || ...)) {
    mistake<problem::axis_out_of_range, axes<A...>, T>();
    return 0;
  } else {
    constexpr std::int64_t all = (0 | ... | (std::int64_t{1} << axis_of<T, A>()));
    constexpr std::int64_t sum = (0 + ... + (std::int64_t{1} << axis_of<T, A>()));
    if constexpr (all != sum) mistake<problem::axis_twice, axes<A...>, T>();
    return all;
  }
}

}  // namespace detail
}  // namespace flowgraph
