// The file that TensorBoard reads: records, each with its length and with checksums of both, appended one by one.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <flowgraph/formats/durable_file.hpp>
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
  explicit summary_file(const file_path& directory)
      : path_(made(directory) + "/" + new_name()),
        file_(path_.string(), O_WRONLY | O_CREAT | O_TRUNC, path_.string()) {
    if (!file_.is_open()) file_.fail("created");
  }

  const file_path& path() const { return path_; }

  // A record that can't be written, as on a full disk, is left out: the next one stands in its place.
  void write(std::string_view record) {
    const std::string length = little_endian<8>(record.size());
    std::string whole = length + little_endian<4>(masked_crc32c(length));
    whole += record;
    whole += little_endian<4>(masked_crc32c(record));
    const std::lock_guard lock(mutex_);
    file_.write_at(end_, whole);
    end_ += static_cast<off_t>(whole.size());
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
  static std::string made(const file_path& directory) {
    make_directories(directory.string());
    return directory.string();
  }

  file_path path_;
  open_file file_;
  off_t end_ = 0;
  std::mutex mutex_;
};

}  // namespace flowgraph::detail
