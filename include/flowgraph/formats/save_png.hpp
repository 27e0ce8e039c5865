// fg::save_png: an array as a picture. The file is there whole or not at all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <fmt/core.h>

#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/core/error.hpp>
#include "durable_file.hpp"
#include "encode_png.hpp"

namespace flowgraph {

// [height, width], or [height, width, channels] with 1 (gray), 2 (gray, alpha), 3 (red, green, blue) or 4 (with alpha)
// of them. Bytes as they are; other numbers from 0 to 1, what lies outside is cut off. Throws file_error, and
// argument_error for other channels.
template <feedable D>
void save_png(const std::filesystem::path& path, const D& data) {
  constexpr const detail::data_layout& layout = detail::data_layout_of<D>();
  static_assert(!layout.flat && (layout.rank == 2 || layout.rank == 3),
                "save_png: a picture must be [height, width] or [height, width, channels]");
  const detail::lent<D> lent(data);
  const detail::borrowed& b = lent.data;
  const std::int64_t channels = b.rank == 2 ? 1 : b.dims[2];
  if (channels < 1 || channels > 4)
    throw argument_error(problem::image_shape,
                         fmt::format("{}: expected 1 to 4 channels, got {}", path.string(), channels));
  detail::pixels picture{static_cast<std::size_t>(b.dims[0]), static_cast<std::size_t>(b.dims[1]),
                         static_cast<std::size_t>(channels)};
  using T = typename detail::type_of_dtype<layout.type>::type;
  picture.values.reserve(static_cast<std::size_t>(b.count));
  for (const T& x : std::span(static_cast<const T*>(b.data), static_cast<std::size_t>(b.count)))
    picture.values.push_back(detail::pixel_byte(static_cast<double>(x), b.type == dtype::uint8));
  const std::string file = detail::encode_png(path.string(), picture);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(file))};
  detail::write_durably(path, parts);
}

}  // namespace flowgraph
