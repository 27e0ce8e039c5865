// From the extents and the bytes that a file states to an array of the type that was asked for: what IDX and .npy files
// share. Nothing is allocated before the file is known to hold all of it.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "file_bytes.hpp"
#include "loaded_array.hpp"

namespace flowgraph::detail {

// Elements as they lie in a file: their size and order, row by row or column by column (Fortran's).
struct file_layout {
  std::vector<std::uint64_t> dims{};
  std::endian order = std::endian::little;
  bool by_columns = false;
};

// The last axis slowest in `from`, fastest in `to`. size: bytes of an element.
inline void from_columns(const std::byte* from, const std::vector<std::uint64_t>& dims, std::byte* to,
                         std::size_t count, std::size_t size) {
  std::vector<std::uint64_t> index(dims.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t target = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) target = target * dims[axis] + index[axis];
    std::memcpy(to + target * size, from + i * size, size);
    for (std::size_t axis = 0; axis < dims.size() && ++index[axis] == dims[axis]; ++axis) index[axis] = 0;
  }
}

// The reader stands at the first element, and nothing may follow the last one.
inline loaded_array read_elements(byte_reader& reader, const file_layout& layout, const wanted_array& wanted) {
  const auto text = [&] {
    std::string s(name_of(wanted.type));
    s += '[';
    for (const std::uint64_t n : layout.dims) s += (s.back() == '[' ? "" : ", ") + std::to_string(n);
    return s + ']';
  };

  std::uint64_t count = 1;
  bool fits = layout.dims.size() == static_cast<std::size_t>(wanted.shape.rank), empty = false;
  for (std::size_t i = 0; i < layout.dims.size(); ++i) {
    const std::uint64_t n = layout.dims[i];
    if (fits && wanted.shape.number[i] >= 0) fits = n == static_cast<std::uint64_t>(wanted.shape.number[i]);
    if (n == 0) empty = true;
    // More than the file could hold is refused below, whatever the extents after it are.
    count = n != 0 && count > most_elements / n ? static_cast<std::uint64_t>(most_elements) : count * (n == 0 ? 1 : n);
  }
  if (!fits)
    reader.fail({"expected ", shape_to_text(wanted.type, wanted.shape), ", got ", text()}, problem::file_mismatch);
  if (count >= static_cast<std::uint64_t>(most_elements)) reader.fail({"no array has as many elements as ", text()});
  if (empty) count = 0;
  const auto size = static_cast<std::size_t>(size_of(wanted.type));
  const std::string_view bytes = reader.take(count * size, text());
  if (reader.left() > 0)
    reader.fail(
        {"expected the end of the file after ", text(), ", got ", std::to_string(reader.left()), " more bytes"});

  if (wanted.type == dtype::boolean)
    for (const char c : bytes)
      if (c != 0 && c != 1) reader.fail({"expected a bool, 0 or 1, got ", std::to_string(int{c})});
  loaded_array loaded{{}, allocate_aligned<std::byte>(bytes.size())};
  for (std::size_t i = 0; i < layout.dims.size(); ++i) loaded.dims[i] = static_cast<std::int64_t>(layout.dims[i]);
  if (layout.by_columns && layout.dims.size() > 1) {
    const auto columns = allocate_aligned<std::byte>(bytes.size());
    copy_elements(bytes, layout.order, size, columns.get());
    from_columns(columns.get(), layout.dims, loaded.elements.get(), count, size);
  } else {
    copy_elements(bytes, layout.order, size, loaded.elements.get());
  }
  return loaded;
}

}  // namespace flowgraph::detail
