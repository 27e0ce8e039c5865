// Pixels as a PNG file, through libpng; FLOWGRAPH_PNG is 1 where CMake found it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#if FLOWGRAPH_PNG
#include <png.h>
#endif

#include "file_error.hpp"
#include "pixels.hpp"

namespace flowgraph::detail {

// The bytes of the file. Throws file_error; name: what it says is wrong.
inline std::string encode_png(std::string_view name, const pixels& p) {
#if FLOWGRAPH_PNG
  constexpr png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  check_pixels(name, p.width, p.height);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(p.width);
  image.height = static_cast<png_uint_32>(p.height);
  image.format = formats[p.channels - 1];
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, p.values.data(), 0, nullptr) == 0)
    throw file_error(problem::file_access, name, {}, {"can't be written as PNG: ", image.message});
  bytes.resize(size);
  return bytes;
#else
  (void)p;
  throw file_error(
      problem::file_unsupported, name, {},
      {"the program was built without libpng; link flowgraph::data or flowgraph::summary where CMake finds it"});
#endif
}

}  // namespace flowgraph::detail
