// The check sum of ZIP and PNG files.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace flowgraph::detail {

// Polynomial 0xEDB88320; before: that of the bytes in front.
inline std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = t[i] >> 1 ^ (t[i] & 1u ? 0xEDB88320u : 0u);
    }
    return t;
  }();
  std::uint32_t crc = ~before;
  for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFFu];
  return ~crc;
}

}  // namespace flowgraph::detail
