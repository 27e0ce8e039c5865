// Image files as arrays: fg::read_image<28, 28, 1>("7.png"). PNG and JPEG, told apart by their first bytes.
#pragma once
#include <cstdint>

#include <flowgraph/core/other_half.hpp>
#include "file_error.hpp"
#include "file_limits.hpp"
#include "file_path.hpp"
#include "loaded_array.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

// [height, width, channels]
FLOWGRAPH_OTHER_HALF loaded_array load_image(const file_path& path, const shape_text& shape, const file_limits& limits);

}  // namespace FLOWGRAPH_HALF

// An object, so that its name alone may be given to who calls it with a path.
template <auto Height, auto Width, int Channels>
struct image_reader {
  static_assert(Channels >= 1 && Channels <= 4, "read_image: an image has 1 to 4 channels");
  using array = ndarray<std::uint8_t, Height, Width, Channels>;

  array operator()(const file_path& path, const file_limits& limits = {}) const {
    return load_image(path, array::shape, limits).template as<array>();
  }
};

}  // namespace detail

// [height, width, channels] of 0 to 255. Height and width are numbers, which the image must have, or names, which get
// them from the image; it is converted to 1 (gray), 2 (gray, alpha), 3 (red, green, blue) or 4 (with alpha) channels.
// Throws file_error.
template <auto Height, auto Width, int Channels>
inline constexpr detail::image_reader<Height, Width, Channels> read_image{};

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "image_code.hpp"
#endif
