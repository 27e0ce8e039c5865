// Image files as arrays: fg::read_image<28, 28, 1>("7.png"). PNG and JPEG, told apart by their first bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <flowgraph/arrays/ndarray.hpp>
#include "file_bytes.hpp"
#include "jpeg.hpp"
#include "pixels.hpp"
#include "png.hpp"

namespace flowgraph {

namespace detail {

inline pixels decode_image(std::string_view file, std::string_view bytes) {
  [[maybe_unused]] const auto built_without = [&](std::string_view library) {
    return file_error(problem::file_unsupported, file, {},
                      {"the program was built without ", library, "; link flowgraph::data where CMake finds it"});
  };
  if (bytes.starts_with("\x89PNG")) {
#if FLOWGRAPH_PNG
    return png_decoder(file, bytes).decode();
#else
    throw built_without("libpng");
#endif
  }
  if (bytes.starts_with("\xFF\xD8")) {
#if FLOWGRAPH_JPEG
    return jpeg_decoder(file, bytes).decode();
#else
    throw built_without("libjpeg");
#endif
  }
  throw file_error(problem::file_malformed, file, {.byte = 0}, {"expected a PNG or JPEG image"});
}

}  // namespace detail

// [height, width, channels] of 0 to 255. Height and width are numbers, which the image must have, or names, which get
// them from the image; it is converted to 1 (gray), 2 (gray, alpha), 3 (red, green, blue) or 4 (with alpha) channels.
// Throws file_error.
template <auto Height, auto Width, int Channels>
ndarray<std::uint8_t, Height, Width, Channels> read_image(const std::filesystem::path& path) {
  static_assert(Channels >= 1 && Channels <= 4, "read_image: an image has 1 to 4 channels");
  using array = ndarray<std::uint8_t, Height, Width, Channels>;
  const std::string name = path.string();
  const detail::pixels image = detail::decode_image(name, detail::load_file(path));
  const typename array::dims_type dims{static_cast<std::int64_t>(image.height), static_cast<std::int64_t>(image.width),
                                       Channels};
  for (int i = 0; i < 2; ++i)
    if (array::shape.number[i] >= 0 && array::shape.number[i] != dims[static_cast<std::size_t>(i)])
      throw file_error(problem::file_mismatch, name, {},
                       {"expected an image of ", detail::shape_to_text(dtype::uint8, array::shape), ", got ",
                        detail::shape_to_text(dtype::uint8, array::shape, dims.data())});
  return array(dims, [&](std::uint8_t* to) {
    const std::uint8_t* from = image.values.data();
    for (std::size_t i = 0; i < image.height * image.width; ++i, from += image.channels, to += Channels)
      detail::convert_pixel(from, image.channels, to, Channels);
  });
}

}  // namespace flowgraph
