// ZIP archives of .npy files, byte for byte as numpy.savez writes them. Apart from save_numpy_code.hpp, so that a test
// can write one as if its numbers were large.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <flowgraph/arrays/borrow.hpp>
#include "crc32.hpp"
#include "durable_file.hpp"
#include "numpy_type.hpp"

namespace flowgraph::detail {

inline std::span<const std::byte> data_bytes(const borrowed& b) {
  return {static_cast<const std::byte*>(b.data), static_cast<std::size_t>(b.count * size_of(b.type))};
}

// All that stands before the elements; its length is a multiple of 64. NumPy leaves room for a first extent of 21
// digits, so that a file can grow in place.
inline std::string npy_head(const borrowed& b) {
  constexpr std::size_t align = 64, before = 10, room_for_digits = 21;
  const char order = size_of(b.type) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': (", order, npy_code(b.type));
  for (int i = 0; i < b.rank; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", b.dims[i]);
  text += b.rank == 1 ? ",), }" : "), }";
  if (b.rank > 0) text.append(room_for_digits - fmt::format("{}", b.dims[0]).size(), ' ');
  text.append(align - (before + text.size() + 1) % align, ' ');
  text += '\n';
  const std::size_t length = text.size();
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(length & 0xFF) + static_cast<char>(length >> 8) + text;
}

// Numbers from the lowest byte to the highest: how ZIP has them.
class little_bytes {
 public:
  little_bytes& two(std::uint64_t n) { return add(n, 2); }
  little_bytes& four(std::uint64_t n) { return add(n, 4); }
  little_bytes& eight(std::uint64_t n) { return add(n, 8); }
  little_bytes& text(std::string_view s) {
    bytes_ += s;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  little_bytes& add(std::uint64_t n, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(n >> 8 * i & 0xFF);
    return *this;
  }
  std::string bytes_;
};

struct zip_content {
  std::string name;
  std::string head;  // then the data
  std::span<const std::byte> data;
  std::uint64_t crc = 0, at = 0;

  std::uint64_t size() const { return head.size() + data.size(); }
};

inline constexpr std::uint64_t zip_most = 0xFFFF'FFFF;
inline constexpr std::uint64_t zip64_version = 45, zip_first_day = 0x21;

// Sizes of 64 bits always, as NumPy has it: a reader need not know beforehand.
inline std::string zip_entry_head(const zip_content& c) {
  little_bytes b;
  b.text("PK\3\4").two(zip64_version).two(0).two(0).two(0).two(zip_first_day).four(c.crc).four(zip_most).four(zip_most);
  b.two(c.name.size()).two(20).text(c.name);
  b.two(1).two(16).eight(c.size()).eight(c.size());
  return b.bytes();
}
// limit: numbers beyond it stand in fields of 64 bits.
inline std::string zip_directory(std::span<const zip_content> all, std::uint64_t at, std::uint64_t limit) {
  little_bytes b;
  const auto short_of = [limit](std::uint64_t n) { return n > limit ? zip_most : n; };
  for (const zip_content& c : all) {
    little_bytes wide;
    if (c.size() > limit) wide.eight(c.size()).eight(c.size());
    if (c.at > limit) wide.eight(c.at);
    const std::size_t extra = wide.bytes().empty() ? 0 : wide.bytes().size() + 4;
    b.text("PK\1\2").two(3 << 8 | zip64_version).two(zip64_version).two(0).two(0).two(0).two(zip_first_day);
    b.four(c.crc).four(short_of(c.size())).four(short_of(c.size()));
    b.two(c.name.size()).two(extra).two(0).two(0).two(0).four(0600u << 16).four(short_of(c.at)).text(c.name);
    if (extra > 0) b.two(1).two(wide.bytes().size()).text(wide.bytes());
  }
  const std::uint64_t size = b.bytes().size(), end = at + size;
  if (at > limit || all.size() > 0xFFFF - 1u) {
    b.text("PK\6\6").eight(44).two(zip64_version).two(zip64_version).four(0).four(0);
    b.eight(all.size()).eight(all.size()).eight(size).eight(at);
    b.text("PK\6\7").four(0).eight(end).four(1);
  }
  const std::uint64_t count = std::min<std::uint64_t>(all.size(), 0xFFFF);
  b.text("PK\5\6").two(0).two(0).two(count).two(count).four(size).four(short_of(at)).two(0);
  return b.bytes();
}

inline void write_zip(const file_path& path, std::vector<zip_content>& all, std::uint64_t limit) {
  std::vector<std::string> heads;
  std::uint64_t at = 0;
  for (zip_content& c : all) {
    c.at = at;
    c.crc = crc32_of({reinterpret_cast<const char*>(c.data.data()), c.data.size()}, crc32_of(c.head));
    heads.push_back(zip_entry_head(c));
    at += heads.back().size() + c.size();
  }
  const std::string directory = zip_directory(all, at, limit);
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t i = 0; i < all.size(); ++i)
    parts.insert(parts.end(), {std::as_bytes(std::span(heads[i])), std::as_bytes(std::span(all[i].head)), all[i].data});
  parts.push_back(std::as_bytes(std::span(directory)));
  write_durably(path, parts);
}

}  // namespace flowgraph::detail
