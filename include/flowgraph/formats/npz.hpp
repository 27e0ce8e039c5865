// NumPy's .npz: a ZIP archive of .npy files, stored (numpy.savez) or deflated (numpy.savez_compressed).
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "npy.hpp"

namespace flowgraph {

namespace detail {

// The check sum of ZIP, polynomial 0xEDB88320; before: that of the bytes in front.
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

struct zip_entry {
  std::string name;
  std::uint64_t method = 0, crc = 0, packed_size = 0, size = 0, header_at = 0;
};

}  // namespace detail

// fg::npz file("data.npz"); auto x = file.read<float, rows, 64>("x"). Throws file_error.
class npz {
 public:
  explicit npz(const std::filesystem::path& path) : file_(path.string()), bytes_(detail::load_file(path)) {
    read_directory();
  }

  // As numpy.load(...).files: without ".npy".
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const detail::zip_entry& e : entries_) all.push_back(e.name);
    return all;
  }

  template <element T, auto... Extents>
  ndarray<T, Extents...> read(std::string_view name) const {
    for (const detail::zip_entry& e : entries_) {
      if (e.name != name) continue;
      std::size_t begin = 0;
      const std::string_view packed = packed_bytes(e, begin);
      const std::string unpacked =
          e.method == 0 ? std::string() : detail::inflate(file_, packed, begin, detail::packing::raw, e.size);
      const std::string_view content = e.method == 0 ? packed : unpacked;
      detail::byte_reader reader(file_, content, begin);
      if (content.size() != e.size || detail::crc32_of(content) != e.crc)
        reader.fail({"the check sum or the size of \"", name, "\" is not that of the archive's directory"});
      return detail::parse_npy<T, Extents...>(reader);
    }
    std::string there;
    for (const detail::zip_entry& e : entries_) there += (there.empty() ? "" : ", ") + e.name;
    throw file_error(problem::file_mismatch, file_, {}, {"expected an array \"", name, "\", got ", there});
  }

 private:
  static constexpr std::uint64_t in_extra_field = 0xFFFFFFFFu;

  // The directory stands at the end of the file; what it says is checked before it is used.
  void read_directory() {
    const std::size_t end = bytes_.rfind("PK\5\6");
    if (end == std::string::npos)
      detail::byte_reader(file_, bytes_).fail({"expected a ZIP archive with a directory at its end"});
    detail::byte_reader tail = at(end);
    tail.take(4, "the end of the directory");
    tail.take(6, "the numbers of disks");
    std::uint64_t count = tail.little(2, "the number of entries");
    tail.take(4, "the directory's size");
    std::uint64_t directory = tail.little(4, "the directory's place");
    if (tail.little(2, "the comment's length") != tail.left())
      tail.fail({"expected the archive to end with its comment"});
    if (count == 0xFFFFu || directory == in_extra_field) {
      if (end < 20) tail.fail({"expected the place of a ZIP64 directory"});
      detail::byte_reader locator = at(end - 20);
      if (locator.take(4, "the ZIP64 locator") != "PK\6\7") locator.fail({"expected the place of a ZIP64 directory"});
      locator.take(4, "a disk's number");
      detail::byte_reader record = at(locator.little(8, "the ZIP64 directory's place"));
      if (record.take(4, "the ZIP64 directory") != "PK\6\6") record.fail({"expected the end of a ZIP64 directory"});
      record.take(28, "the ZIP64 directory");
      count = record.little(8, "the number of entries");
      record.take(8, "the directory's size");
      directory = record.little(8, "the directory's place");
    }
    detail::byte_reader reader = at(directory);
    for (std::uint64_t i = 0; i < count; ++i) read_entry(reader);
  }

  void read_entry(detail::byte_reader& reader) {
    if (reader.take(4, "a directory entry") != "PK\1\2") reader.fail({"expected an entry of the archive's directory"});
    reader.take(4, "the versions");
    detail::zip_entry e;
    const std::uint64_t flags = reader.little(2, "the flags");
    e.method = reader.little(2, "the method");
    reader.take(4, "the time");
    e.crc = reader.little(4, "the check sum");
    e.packed_size = reader.little(4, "the packed size");
    e.size = reader.little(4, "the size");
    const std::uint64_t name = reader.little(2, "a length"), extra = reader.little(2, "a length"),
                        comment = reader.little(2, "a length");
    reader.take(8, "the attributes");
    e.header_at = reader.little(4, "the entry's place");
    e.name = reader.take(name, "a name");
    detail::byte_reader fields(file_, reader.take(extra, "the extra fields"), reader.place() - extra);
    reader.take(comment, "a comment");
    while (fields.left() >= 4) {
      const std::uint64_t id = fields.little(2, "an extra field"), size = fields.little(2, "an extra field");
      detail::byte_reader field(file_, fields.take(size, "an extra field"), fields.place() - size);
      if (id != 1) continue;
      for (std::uint64_t* n : {&e.size, &e.packed_size, &e.header_at})
        if (*n == in_extra_field) *n = field.little(8, "a ZIP64 size");
    }
    if ((flags & 1u) != 0 || (e.method != 0 && e.method != 8))
      reader.fail({"expected \"", e.name, "\" to be stored or deflated, and not encrypted"});
    if (e.name.ends_with(".npy")) e.name.resize(e.name.size() - 4);
    entries_.push_back(std::move(e));
  }

  std::string_view packed_bytes(const detail::zip_entry& e, std::size_t& begin) const {
    detail::byte_reader reader = at(e.header_at);
    if (reader.take(4, "an entry") != "PK\3\4") reader.fail({"expected \"", e.name, "\" here, as the directory says"});
    reader.take(22, "an entry's header");
    const std::uint64_t name = reader.little(2, "a length"), extra = reader.little(2, "a length");
    reader.take(name + extra, "an entry's name");
    begin = reader.place();
    return reader.take(e.packed_size, e.name);
  }

  detail::byte_reader at(std::uint64_t place) const {
    detail::byte_reader all(file_, bytes_);
    all.take(place, "the archive");
    return {file_, std::string_view(bytes_).substr(place), place};
  }

  std::string file_, bytes_;
  std::vector<detail::zip_entry> entries_;
};

}  // namespace flowgraph
