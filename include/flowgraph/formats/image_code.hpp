// Defines what image.hpp declares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "file_bytes.hpp"
#include "image.hpp"
#include "jpeg.hpp"
#include "pixels.hpp"
#include "png.hpp"

namespace flowgraph::detail {

inline pixels decode_image(std::string_view file, std::string_view bytes, [[maybe_unused]] pixel_check& check) {
  [[maybe_unused]] const auto built_without = [&](std::string_view library) {
    return file_error(problem::file_unsupported, file, {},
                      {"the program was built without ", library, "; link flowgraph::data where CMake finds it"});
  };
  if (bytes.starts_with("\x89PNG")) {
#if FLOWGRAPH_PNG
    return png_decoder(file, bytes).decode(check);
#else
    throw built_without("libpng");
#endif
  }
  if (bytes.starts_with("\xFF\xD8")) {
#if FLOWGRAPH_JPEG
    return jpeg_decoder(file, bytes).decode(check);
#else
    throw built_without("libjpeg");
#endif
  }
  throw file_error(problem::file_malformed, file, {.byte = 0}, {"expected a PNG or JPEG image"});
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF loaded_array load_image(const file_path& path, const shape_text& shape,
                                             const file_limits& limits) {
  const std::string& name = path.string();
  const std::string bytes = load_file(path, limits);
  pixel_check check(name, bytes.size(), shape, limits);
  const pixels image = decode_image(name, bytes, check);
  const auto channels = static_cast<std::size_t>(shape.number[2]);
  const std::size_t count = image.height * image.width;
  loaded_array loaded{
      {static_cast<std::int64_t>(image.height), static_cast<std::int64_t>(image.width), shape.number[2]}, {}};
  loaded.elements = allocate_aligned<std::byte>(count * channels);
  const std::uint8_t* from = image.values.data();
  auto* to = reinterpret_cast<std::uint8_t*>(loaded.elements.get());
  for (std::size_t i = 0; i < count; ++i, from += image.channels, to += channels)
    convert_pixel(from, image.channels, to, channels);
  return loaded;
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
