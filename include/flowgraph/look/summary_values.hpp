// Numbers as TensorBoard shows them: histograms of arrays, arrays as images.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/core/error.hpp>
#include <flowgraph/engine/text.hpp>
#include <flowgraph/formats/each_number.hpp>
#include <flowgraph/formats/encode_png.hpp>
#include <flowgraph/formats/pixels.hpp>

namespace flowgraph::detail {

// Finite numbers, in equal steps from the least to the greatest; others are left out.
struct histogram_counts {
  static constexpr std::size_t most = 30;

  double min = 0, max = 0, sum = 0, squares = 0;
  std::int64_t count = 0;
  std::vector<double> limits;  // where each bucket ends
  std::vector<double> counts;

  explicit histogram_counts(const borrowed& b) {
    for_each_number(b, [&](double x) {
      if (!std::isfinite(x)) return;
      min = count == 0 ? x : std::min(min, x);
      max = count == 0 ? x : std::max(max, x);
      sum += x;
      squares += x * x;
      ++count;
    });
    const std::size_t buckets = min == max ? 1 : most;
    const double width = max / static_cast<double>(buckets) - min / static_cast<double>(buckets);  // no overflow
    for (std::size_t i = 1; i <= buckets; ++i)
      limits.push_back(i == buckets ? max : min + static_cast<double>(i) * width);
    counts.resize(buckets);
    for_each_number(b, [&](double x) {
      if (!std::isfinite(x)) return;
      const double at = (x / 2 - min / 2) / (width / 2);  // no overflow, again
      ++counts[at < static_cast<double>(buckets) ? static_cast<std::size_t>(at) : buckets - 1];
    });
  }
};

struct encoded_images {
  std::size_t width = 0, height = 0;
  std::vector<std::string> files;
};

// [height, width], [height, width, channels] or [images, height, width, channels], numbers as pixel_byte takes them.
inline encoded_images encode_images(std::string_view tag, const borrowed& b) {
  const int channel_axis = b.rank < 3 ? -1 : b.rank - 1, first = b.rank == 4 ? 1 : 0;
  const std::int64_t channels = channel_axis < 0 ? 1 : b.dims[channel_axis];
  if (b.flat || b.rank < 2 || b.rank > 4 || channels < 1 || channels > 4)
    throw argument_error(problem::image_shape,
                         fmt::format("image \"{}\": expected [height, width], [height, width, channels] or [images, "
                                     "height, width, channels] with 1 to 4 channels, got {}",
                                     tag, type_text(b.type, b.rank, b.dims)));
  const std::vector<std::uint8_t> bytes = pixel_bytes(b);
  encoded_images out{static_cast<std::size_t>(b.dims[first + 1]), static_cast<std::size_t>(b.dims[first]), {}};
  const std::size_t size = out.height * out.width * static_cast<std::size_t>(channels);
  const std::int64_t images = first == 1 ? b.dims[0] : 1;
  for (std::int64_t i = 0; i < images; ++i) {
    const auto at = bytes.begin() + i * static_cast<std::int64_t>(size);
    out.files.push_back(encode_png(
        tag, {out.height, out.width, static_cast<std::size_t>(channels), {at, at + static_cast<std::int64_t>(size)}}));
  }
  return out;
}

}  // namespace flowgraph::detail
