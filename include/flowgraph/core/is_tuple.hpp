// Is a type a std::tuple?
#pragma once
#include <tuple>

namespace flowgraph::detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

}  // namespace flowgraph::detail
