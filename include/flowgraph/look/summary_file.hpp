// The file that TensorBoard reads: records, each with its length and with checksums of both, appended one by one.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <flowgraph/formats/file_error.hpp>
#include <flowgraph/formats/file_path.hpp>

namespace flowgraph::detail {

// CRC-32C: the Castagnoli polynomial, bits reversed.
inline constexpr std::array<std::uint32_t, 256> crc32c_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? (c >> 1) ^ 0x82F63B78u : c >> 1;
    table[i] = c;
  }
  return table;
}();
constexpr std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t c = ~0u;
  for (const char b : bytes) c = crc32c_table[(c ^ static_cast<unsigned char>(b)) & 0xFF] ^ (c >> 8);
  return ~c;
}
// As records hold it, so that a checksum of bytes that contain checksums is still one.
constexpr std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t c = crc32c(bytes);
  return ((c >> 15) | (c << 17)) + 0xA282EAD8u;
}

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Threads may write at the same time. Each record is with the system when write returns: a program that dies loses
// none.
class summary_file {
 public:
  // A new file in the directory, which is made if it is not there. Throws file_error.
  explicit summary_file(const std::filesystem::path& directory) : path_(directory / new_name()) {
    std::error_code failed;
    std::filesystem::create_directories(directory, failed);
    file_.open(path_.string(), std::ios::binary | std::ios::trunc);
    check();
  }

  const file_path& path() const { return path_; }

  void write(std::string_view record) {
    const std::string length = little_endian<8>(record.size());
    const std::lock_guard lock(mutex_);
    file_ << length << little_endian<4>(masked_crc32c(length)) << record << little_endian<4>(masked_crc32c(record))
          << std::flush;
    check();
  }

 private:
  // TensorBoard takes files with "tfevents" in their name, in the order of their names.
  static std::string new_name() {
    return fmt::format("events.out.tfevents.{:010}.flowgraph.{:08x}", static_cast<std::int64_t>(seconds_now()),
                       std::random_device{}());
  }
  template <int Bytes>
  static std::string little_endian(std::uint64_t number) {
    std::string s;
    for (int i = 0; i < Bytes; ++i) s += static_cast<char>(number >> (8 * i) & 0xFF);
    return s;
  }
  void check() const {
    if (!file_) throw file_error(problem::file_access, path_.string(), {}, {"can't be written"});
  }

  file_path path_;
  std::ofstream file_;
  std::mutex mutex_;
};

}  // namespace flowgraph::detail
