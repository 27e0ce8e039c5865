// IDX, the format of MNIST: an array of numbers behind a header of a few bytes, all of it big-endian.
#pragma once
#include <flowgraph/core/other_half.hpp>
#include "file_error.hpp"
#include "file_path.hpp"
#include "loaded_array.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF loaded_array load_idx(const file_path& path, const wanted_array& wanted);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// read_idx<std::uint8_t, images, 28, 28>("train-images-idx3-ubyte"): named extents get their numbers from the file. A
// gzip file is unpacked. Throws file_error.
template <element T, auto... Extents>
ndarray<T, Extents...> read_idx(const file_path& path) {
  using array = ndarray<T, Extents...>;
  return detail::load_idx(path, detail::wanted_of<array>()).template as<array>();
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "idx_code.hpp"
#endif
