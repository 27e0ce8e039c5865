// NumPy's .npy: an array behind a header that is a Python dictionary. Little- and big-endian, C's and Fortran's order.
#pragma once
#include <flowgraph/core/other_half.hpp>
#include "file_error.hpp"
#include "file_limits.hpp"
#include "file_path.hpp"
#include "loaded_array.hpp"
#include "numpy_type.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF loaded_array load_npy(const file_path& path, const wanted_array& wanted,
                                           const file_limits& limits);

}  // namespace FLOWGRAPH_HALF

// An object, so that its name alone may be given to who calls it with a path.
template <element T, auto... Extents>
struct npy_reader {
  static_assert(numpy_element<T>, "NumPy has no bfloat16");
  using array = ndarray<T, Extents...>;

  array operator()(const file_path& path, const file_limits& limits = {}) const {
    return load_npy(path, wanted_of<array>(), limits).template as<array>();
  }
};

}  // namespace detail

// read_npy<float, rows, 64>("x.npy"): named extents get their numbers from the file. Throws file_error.
template <element T, auto... Extents>
inline constexpr detail::npy_reader<T, Extents...> read_npy{};

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "npy_code.hpp"
#endif
