// Defines what npz.hpp declares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "crc32.hpp"
#include "npy_parse.hpp"
#include "npz.hpp"

namespace flowgraph::detail {

inline constexpr std::uint64_t in_extra_field = 0xFFFFFFFFu;

inline byte_reader reader_at(const zip_archive& archive, std::uint64_t place) {
  byte_reader all(archive.file, archive.bytes);
  all.take(place, "the archive");
  return {archive.file, std::string_view(archive.bytes).substr(place), place};
}

inline void read_entry(zip_archive& archive, byte_reader& reader) {
  if (reader.take(4, "a directory entry") != "PK\1\2") reader.fail({"expected an entry of the archive's directory"});
  reader.take(4, "the versions");
  zip_entry e;
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
  byte_reader fields(archive.file, reader.take(extra, "the extra fields"), reader.place() - extra);
  reader.take(comment, "a comment");
  while (fields.left() >= 4) {
    const std::uint64_t id = fields.little(2, "an extra field"), size = fields.little(2, "an extra field");
    byte_reader field(archive.file, fields.take(size, "an extra field"), fields.place() - size);
    if (id != 1) continue;
    for (std::uint64_t* n : {&e.size, &e.packed_size, &e.header_at})
      if (*n == in_extra_field) *n = field.little(8, "a ZIP64 size");
  }
  if ((flags & 1u) != 0 || (e.method != 0 && e.method != 8))
    reader.fail({"expected \"", e.name, "\" to be stored or deflated, and not encrypted"});
  if (e.name.ends_with(".npy")) e.name.resize(e.name.size() - 4);
  archive.entries.push_back(std::move(e));
}

// The directory stands at the end of the file; what it says is checked before it is used.
inline void read_directory(zip_archive& archive) {
  const std::size_t end = archive.bytes.rfind("PK\5\6");
  if (end == std::string::npos)
    byte_reader(archive.file, archive.bytes).fail({"expected a ZIP archive with a directory at its end"});
  byte_reader tail = reader_at(archive, end);
  tail.take(4, "the end of the directory");
  tail.take(6, "the numbers of disks");
  std::uint64_t count = tail.little(2, "the number of entries");
  tail.take(4, "the directory's size");
  std::uint64_t directory = tail.little(4, "the directory's place");
  if (tail.little(2, "the comment's length") != tail.left())
    tail.fail({"expected the archive to end with its comment"});
  if (count == 0xFFFFu || directory == in_extra_field) {
    if (end < 20) tail.fail({"expected the place of a ZIP64 directory"});
    byte_reader locator = reader_at(archive, end - 20);
    if (locator.take(4, "the ZIP64 locator") != "PK\6\7") locator.fail({"expected the place of a ZIP64 directory"});
    locator.take(4, "a disk's number");
    byte_reader record = reader_at(archive, locator.little(8, "the ZIP64 directory's place"));
    if (record.take(4, "the ZIP64 directory") != "PK\6\6") record.fail({"expected the end of a ZIP64 directory"});
    record.take(28, "the ZIP64 directory");
    count = record.little(8, "the number of entries");
    record.take(8, "the directory's size");
    directory = record.little(8, "the directory's place");
  }
  byte_reader reader = reader_at(archive, directory);
  for (std::uint64_t i = 0; i < count; ++i) read_entry(archive, reader);
}

inline std::string_view packed_bytes(const zip_archive& archive, const zip_entry& e, std::size_t& begin) {
  byte_reader reader = reader_at(archive, e.header_at);
  if (reader.take(4, "an entry") != "PK\3\4") reader.fail({"expected \"", e.name, "\" here, as the directory says"});
  reader.take(22, "an entry's header");
  const std::uint64_t name = reader.little(2, "a length"), extra = reader.little(2, "a length");
  reader.take(name + extra, "an entry's name");
  begin = reader.place();
  return reader.take(e.packed_size, e.name);
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF zip_archive load_npz(const file_path& path, const file_limits& limits) {
  zip_archive archive{path.string(), load_file(path, limits), limits, {}};
  read_directory(archive);
  return archive;
}

FLOWGRAPH_OTHER_HALF loaded_array array_in(const zip_archive& a, std::string_view name, const wanted_array& wanted) {
  for (const zip_entry& e : a.entries) {
    if (e.name != name) continue;
    std::size_t begin = 0;
    const std::string_view packed = packed_bytes(a, e, begin);
    memory_budget budget(a.file, a.limits, a.bytes.size());
    const std::string unpacked =
        e.method == 0 ? std::string() : inflate(a.file, packed, begin, packing::raw, budget, e.size);
    const std::string_view content = e.method == 0 ? packed : unpacked;
    byte_reader reader(a.file, content, begin);
    if (content.size() != e.size || crc32_of(content) != e.crc)
      reader.fail({"the check sum or the size of \"", name, "\" is not that of the archive's directory"});
    return parse_npy(reader, wanted);
  }
  std::string there;
  for (const zip_entry& e : a.entries) there += (there.empty() ? "" : ", ") + e.name;
  throw file_error(problem::file_mismatch, a.file, {}, {"expected an array \"", name, "\", got ", there});
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
