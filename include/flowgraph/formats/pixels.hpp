// Pixels as a decoder gives them, in as many channels as were asked for, and of numbers.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/arrays/ndarray.hpp>
#include "each_number.hpp"
#include "file_error.hpp"
#include "file_limits.hpp"

namespace flowgraph::detail {

// 1: gray; 2: gray, alpha; 3: red, green, blue; 4: with alpha.
struct pixels {
  std::size_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> values{};
};

// A header may state what the file can't hold; an image of this size is read in no batch.
inline constexpr std::size_t most_pixels = std::size_t{1} << 28;

inline void check_pixels(std::string_view file, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0 || width > most_pixels / height)
    throw file_error(problem::file_malformed, file, {},
                     {"expected an image of 1 to ", std::to_string(most_pixels), " pixels, got ", std::to_string(width),
                      " x ", std::to_string(height)});
}

// What a decoder asks before it takes memory for an image: whether it is one of the size that is wanted.
class pixel_check {
 public:
  pixel_check(std::string_view file, std::size_t file_size, const shape_text& wanted, const file_limits& limits)
      : file_(file),
        wanted_(wanted),
        budget_(file, limits, file_size) {}

  // at_least: bytes of the file that an image of this size takes, however it is packed.
  void operator()(const pixels& p, std::uint64_t at_least, std::uint64_t file_size, std::uint64_t memory) {
    check_pixels(file_, p.width, p.height);
    const std::int64_t dims[] = {static_cast<std::int64_t>(p.height), static_cast<std::int64_t>(p.width),
                                 wanted_.number[2]};
    for (int i = 0; i < 2; ++i)
      if (wanted_.number[i] >= 0 && wanted_.number[i] != dims[i])
        throw file_error(problem::file_mismatch, file_, {},
                         {"expected an image of ", shape_to_text(dtype::uint8, wanted_), ", got ",
                          shape_to_text(dtype::uint8, wanted_, dims)});
    if (at_least > file_size)
      throw file_error(
          problem::file_malformed, file_, {},
          {"an image of ", std::to_string(p.width), " x ", std::to_string(p.height), " pixels takes at least ",
           std::to_string(at_least), " bytes, and the file has ", std::to_string(file_size)});
    budget_.spend(memory);
  }

 private:
  std::string_view file_;
  const shape_text& wanted_;
  memory_budget budget_;
};

// Bytes as they are; other numbers from 0 to 1, what lies outside is cut off. NaN is 0.
inline std::uint8_t pixel_byte(double x, bool is_byte) {
  const double scaled = is_byte ? x : std::round(255 * x);
  return scaled >= 255 ? 255 : scaled > 0 ? static_cast<std::uint8_t>(scaled) : 0;
}

inline std::vector<std::uint8_t> pixel_bytes(const borrowed& b) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(b.count));
  for_each_number(b, [&](double x) { bytes.push_back(pixel_byte(x, b.type == dtype::uint8)); });
  return bytes;
}

// One pixel of `from` channels as one of `to`: colours become gray by the weights of ITU-R BT.601, alpha is dropped or
// opaque.
inline void convert_pixel(const std::uint8_t* in, std::size_t from, std::uint8_t* out, std::size_t to) {
  const bool gray = from < 3;
  if (to < 3)
    out[0] = gray ? in[0] : static_cast<std::uint8_t>((in[0] * 19595u + in[1] * 38470u + in[2] * 7471u + 32768u) >> 16);
  else
    for (std::size_t c = 0; c < 3; ++c) out[c] = in[gray ? 0 : c];
  if (to % 2 == 0) out[to - 1] = from % 2 == 0 ? in[from - 1] : 255;
}

}  // namespace flowgraph::detail
