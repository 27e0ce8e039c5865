// Numbers that are none. Apart from <limits>, which takes the compiler longer than any header of this folder.
#pragma once

namespace flowgraph::detail {

inline constexpr double not_a_number = __builtin_nan("");
inline constexpr double infinity = __builtin_huge_val();

}  // namespace flowgraph::detail
