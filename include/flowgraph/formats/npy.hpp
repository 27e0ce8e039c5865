// NumPy's .npy: an array behind a header that is a Python dictionary. Little- and big-endian, C's and Fortran's order.
#pragma once
#include <flowgraph/core/other_half.hpp>
#include "file_error.hpp"
#include "file_path.hpp"
#include "loaded_array.hpp"
#include "numpy_type.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF loaded_array load_npy(const file_path& path, const wanted_array& wanted);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// read_npy<float, rows, 64>("x.npy"): named extents get their numbers from the file. Throws file_error.
template <element T, auto... Extents>
ndarray<T, Extents...> read_npy(const file_path& path) {
  static_assert(detail::numpy_element<T>, "NumPy has no bfloat16");
  using array = ndarray<T, Extents...>;
  return detail::load_npy(path, detail::wanted_of<array>()).template as<array>();
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "npy_code.hpp"
#endif
