// Image files as arrays: fg::read_image<28, 28, 1>("7.png"). PNG and JPEG, told apart by their first bytes.
#pragma once
#include <cstdint>

#include <flowgraph/core/other_half.hpp>
#include "file_error.hpp"
#include "file_path.hpp"
#include "loaded_array.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

// [height, width, channels]
FLOWGRAPH_OTHER_HALF loaded_array load_image(const file_path& path, const shape_text& shape);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// [height, width, channels] of 0 to 255. Height and width are numbers, which the image must have, or names, which get
// them from the image; it is converted to 1 (gray), 2 (gray, alpha), 3 (red, green, blue) or 4 (with alpha) channels.
// Throws file_error.
template <auto Height, auto Width, int Channels>
ndarray<std::uint8_t, Height, Width, Channels> read_image(const file_path& path) {
  static_assert(Channels >= 1 && Channels <= 4, "read_image: an image has 1 to 4 channels");
  using array = ndarray<std::uint8_t, Height, Width, Channels>;
  return detail::load_image(path, array::shape).template as<array>();
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "image_code.hpp"
#endif
