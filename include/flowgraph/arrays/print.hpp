// std::cout << array, as NumPy does it: rows in brackets, columns aligned, long axes cut in the middle, long rows
// broken. print_with_fmt.hpp has the same for fmt::print.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include <flowgraph/core/callback.hpp>
#include <flowgraph/core/other_half.hpp>
#include "ndarray.hpp"

namespace flowgraph {

namespace detail {

struct printed_array {
  dtype type;
  const void* data;
  const std::int64_t* dims;
  int rank;
  std::int64_t size;

  template <class Array>
  explicit printed_array(const Array& a)
      : type(dtype_of<typename Array::value_type>),
        data(a.data()),
        dims(a.dims().data()),
        rank(Array::rank),
        size(a.size()) {}
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string array_text(const printed_array& a);
// word(i): the i-th element, if it is shown.
FLOWGRAPH_OTHER_HALF std::string array_text(const printed_array& a, callback<std::string(std::int64_t)> word);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

template <class Traits, class T, auto... Extents>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const ndarray<T, Extents...>& a) {
  return out << detail::array_text(detail::printed_array(a));
}
template <class Traits, class T, auto... Extents>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const ndview<T, Extents...>& a) {
  return out << detail::array_text(detail::printed_array(a));
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "print_code.hpp"
#endif
