// Defines what save_png.hpp declares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/core.h>

#include <flowgraph/core/error.hpp>
#include "durable_file.hpp"
#include "encode_png.hpp"
#include "save_png.hpp"

namespace flowgraph::detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void write_png(const file_path& path, const borrowed& data) {
  const std::int64_t channels = data.rank == 2 ? 1 : data.dims[2];
  if (channels < 1 || channels > 4)
    throw argument_error(problem::image_shape,
                         fmt::format("{}: expected 1 to 4 channels, got {}", path.string(), channels));
  const pixels picture{static_cast<std::size_t>(data.dims[0]), static_cast<std::size_t>(data.dims[1]),
                       static_cast<std::size_t>(channels), pixel_bytes(data)};
  const std::string file = encode_png(path.string(), picture);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(file))};
  write_durably(path, parts);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
