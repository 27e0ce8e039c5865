// Defines what idx.hpp declares.
#pragma once
#include <bit>
#include <cstddef>
#include <string>
#include <string_view>

#include "file_array.hpp"
#include "idx.hpp"

namespace flowgraph::detail {

struct idx_type {
  int code;
  dtype type;
  std::string_view name;
};
inline constexpr idx_type idx_types[] = {{0x08, dtype::uint8, "uint8"},   {0x09, dtype::int8, "int8"},
                                         {0x0B, dtype::none, "int16"},    {0x0C, dtype::int32, "int32"},
                                         {0x0D, dtype::float32, "float"}, {0x0E, dtype::float64, "double"}};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF loaded_array load_idx(const file_path& path, const wanted_array& wanted,
                                           const file_limits& limits) {
  const std::string bytes = load_file(path, limits);
  byte_reader reader(path.string(), bytes);
  if (reader.big(2, "the magic number of IDX") != 0)
    reader.fail({"expected an IDX file, which begins with two bytes of 0"});
  const int code = static_cast<int>(reader.big(1, "the element type"));
  const idx_type* type = nullptr;
  for (const idx_type& t : idx_types)
    if (t.code == code) type = &t;
  if (type == nullptr) reader.fail({"expected an element type of IDX, 8 to 14, got ", std::to_string(code)});
  if (type->type != wanted.type)
    reader.fail({"expected elements of ", name_of(wanted.type), ", got ", type->name}, problem::file_mismatch);

  file_layout layout{.order = std::endian::big};
  const auto rank = static_cast<std::size_t>(reader.big(1, "the number of axes"));
  for (std::size_t i = 0; i < rank; ++i) layout.dims.push_back(reader.big(4, "an extent"));
  return read_elements(reader, layout, wanted);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
