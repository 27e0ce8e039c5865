// IDX, the format of MNIST: an array of numbers behind a header of a few bytes, all of it big-endian.
#pragma once
#include <flowgraph/core/other_half.hpp>
#include "file_error.hpp"
#include "file_limits.hpp"
#include "file_path.hpp"
#include "loaded_array.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF loaded_array load_idx(const file_path& path, const wanted_array& wanted,
                                           const file_limits& limits);

}  // namespace FLOWGRAPH_HALF

// An object, so that its name alone may be given to who calls it with a path.
template <element T, auto... Extents>
struct idx_reader {
  using array = ndarray<T, Extents...>;

  array operator()(const file_path& path, const file_limits& limits = {}) const {
    return load_idx(path, wanted_of<array>(), limits).template as<array>();
  }
};

}  // namespace detail

// read_idx<std::uint8_t, images, 28, 28>("train-images-idx3-ubyte"): named extents get their numbers from the file. A
// gzip file is unpacked. Throws file_error.
template <element T, auto... Extents>
inline constexpr detail::idx_reader<T, Extents...> read_idx{};

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "idx_code.hpp"
#endif
