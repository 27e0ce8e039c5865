// What NumPy calls element types.
#pragma once
#include <string_view>

#include <flowgraph/core/dtype.hpp>

namespace flowgraph::detail {

// "f4" and the like, without the byte order.
constexpr std::string_view npy_code(dtype type) {
  switch (type) {
    case dtype::boolean:
      return "b1";
    case dtype::int8:
      return "i1";
    case dtype::uint8:
      return "u1";
    case dtype::int32:
      return "i4";
    case dtype::int64:
      return "i8";
    case dtype::float16:
      return "f2";
    case dtype::float32:
      return "f4";
    case dtype::float64:
      return "f8";
    default:
      return "";
  }
}

template <class T>
concept numpy_element = !npy_code(dtype_of<T>).empty();

}  // namespace flowgraph::detail
