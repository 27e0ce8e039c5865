// A whole file in memory, and reading it piece by piece without ever reading past its end. Every reader of this layer
// stands on it, so that an error has the file and the byte.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "file_error.hpp"
#include "file_limits.hpp"
#include "file_path.hpp"
#include "inflate.hpp"

namespace flowgraph::detail {

// All bytes of a file; those of a gzip file unpacked.
inline std::string load_file(const file_path& path, const file_limits& limits = {}) {
  const std::string& name = path.string();
  const auto unreadable = [&](std::string_view why) { return file_error(problem::file_access, name, {}, {why}); };
  std::ifstream file(name, std::ios::binary);
  if (!file) throw unreadable("can't be opened");
  // Read in pieces: the size that a file states may be wrong, or none. What is no file may go on for ever.
  std::error_code failed;
  const bool endless = !std::filesystem::is_regular_file(name, failed);
  memory_budget stream(name, limits, 0);
  std::string bytes;
  std::array<char, 65536> piece;
  do {
    file.read(piece.data(), piece.size());
    if (endless) stream.spend(static_cast<std::uint64_t>(file.gcount()));
    bytes.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (!file.eof() || std::filesystem::is_directory(name)) throw unreadable("can't be read to its end");
  if (!bytes.starts_with("\x1F\x8B")) return bytes;
  memory_budget budget(name, limits, bytes.size());
  return inflate(name, bytes, 0, packing::gzip, budget);
}

// A place in the bytes of a file. All numbers are read byte by byte: their order is the file's, not the machine's.
class byte_reader {
 public:
  // begin: where the bytes lie in the file, for the errors.
  byte_reader(std::string_view file, std::string_view bytes, std::size_t begin = 0)
      : file_(file),
        bytes_(bytes),
        begin_(begin) {}

  // In the file.
  std::size_t place() const { return begin_ + at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  std::string_view file() const { return file_; }

  std::string_view take(std::size_t count, std::string_view what) {
    if (count > left())
      fail({"expected ", std::to_string(count), " bytes of ", what, ", but only ", std::to_string(left()),
            " are left: the file is cut off or its header is wrong"});
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::uint64_t little(int size, std::string_view what) {
    return number(take(static_cast<std::size_t>(size), what), true);
  }
  std::uint64_t big(int size, std::string_view what) {
    return number(take(static_cast<std::size_t>(size), what), false);
  }

  [[noreturn]] void fail(std::initializer_list<std::string_view> parts, problem why = problem::file_malformed) const {
    throw file_error(why, file_, {.byte = static_cast<long long>(place())}, parts);
  }

 private:
  static std::uint64_t number(std::string_view bytes, bool little) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      n = n << 8 | static_cast<unsigned char>(bytes[little ? bytes.size() - 1 - i : i]);
    return n;
  }

  std::string_view file_, bytes_;
  std::size_t begin_, at_ = 0;
};

// Elements of `size` bytes each, turned around where the file's order is not the machine's.
inline void copy_elements(std::string_view from, std::endian order, std::size_t size, void* to) {
  if (from.empty()) return;
  std::memcpy(to, from.data(), from.size());
  if (order == std::endian::native || size == 1) return;
  auto* bytes = static_cast<unsigned char*>(to);
  for (std::size_t first = 0; first < from.size(); first += size)
    for (std::size_t i = 0; i < size / 2; ++i) std::swap(bytes[first + i], bytes[first + size - 1 - i]);
}

}  // namespace flowgraph::detail
