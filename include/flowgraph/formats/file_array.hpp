// From the extents and the bytes that a file states to an fg::ndarray of the type that was asked for: what IDX and
// .npy files share. Nothing is allocated before the file is known to hold all of it.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/arrays/ndarray.hpp>
#include "file_bytes.hpp"

namespace flowgraph::detail {

// Elements as they lie in a file: their size and order, row by row or column by column (Fortran's).
struct file_layout {
  std::vector<std::uint64_t> dims{};
  std::endian order = std::endian::little;
  bool by_columns = false;
};

// The last axis slowest in `from`, fastest in `to`.
template <class T>
void from_columns(const T* from, const std::vector<std::uint64_t>& dims, T* to, std::size_t count) {
  std::vector<std::uint64_t> index(dims.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t target = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) target = target * dims[axis] + index[axis];
    to[target] = from[i];
    for (std::size_t axis = 0; axis < dims.size() && ++index[axis] == dims[axis]; ++axis) index[axis] = 0;
  }
}

// The reader stands at the first element, and nothing may follow the last one.
template <class T, auto... Extents>
ndarray<T, Extents...> read_elements(byte_reader& reader, const file_layout& layout) {
  using array = ndarray<T, Extents...>;
  const auto text = [&] {
    std::string s(name_of(dtype_of<T>));
    s += '[';
    for (const std::uint64_t n : layout.dims) s += (s.back() == '[' ? "" : ", ") + std::to_string(n);
    return s + ']';
  };
  const auto wanted = [] { return shape_to_text(dtype_of<T>, array::shape); };

  std::uint64_t count = 1;
  bool fits = layout.dims.size() == sizeof...(Extents), empty = false;
  for (std::size_t i = 0; i < layout.dims.size(); ++i) {
    const std::uint64_t n = layout.dims[i];
    if (fits && array::shape.number[i] >= 0) fits = n == static_cast<std::uint64_t>(array::shape.number[i]);
    if (n == 0) empty = true;
    // More than the file could hold is refused below, whatever the extents after it are.
    count = n != 0 && count > most_elements / n ? static_cast<std::uint64_t>(most_elements) : count * (n == 0 ? 1 : n);
  }
  if (!fits) reader.fail({"expected ", wanted(), ", got ", text()}, problem::file_mismatch);
  if (count >= static_cast<std::uint64_t>(most_elements)) reader.fail({"no array has as many elements as ", text()});
  if (empty) count = 0;
  const std::string_view bytes = reader.take(count * sizeof(T), text());
  if (reader.left() > 0)
    reader.fail(
        {"expected the end of the file after ", text(), ", got ", std::to_string(reader.left()), " more bytes"});

  if constexpr (std::is_same_v<T, bool>)
    for (const char c : bytes)
      if (c != 0 && c != 1) reader.fail({"expected a bool, 0 or 1, got ", std::to_string(int{c})});
  typename array::dims_type dims{};
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<std::int64_t>(layout.dims[i]);
  return array(dims, [&](T* to) {
    if (!layout.by_columns || layout.dims.size() < 2) return copy_elements(bytes, layout.order, sizeof(T), to);
    const auto columns = allocate_aligned<T>(count);
    copy_elements(bytes, layout.order, sizeof(T), columns.get());
    from_columns(columns.get(), layout.dims, to, count);
  });
}

}  // namespace flowgraph::detail
