// IDX, the format of MNIST: an array of numbers behind a header of a few bytes, all of it big-endian.
#pragma once
#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "file_array.hpp"

namespace flowgraph {

namespace detail {

struct idx_type {
  int code;
  dtype type;
  std::string_view name;
};
inline constexpr idx_type idx_types[] = {{0x08, dtype::uint8, "uint8"},   {0x09, dtype::int8, "int8"},
                                         {0x0B, dtype::none, "int16"},    {0x0C, dtype::int32, "int32"},
                                         {0x0D, dtype::float32, "float"}, {0x0E, dtype::float64, "double"}};

}  // namespace detail

// read_idx<std::uint8_t, images, 28, 28>("train-images-idx3-ubyte"): named extents get their numbers from the file. A
// gzip file is unpacked. Throws file_error.
template <element T, auto... Extents>
ndarray<T, Extents...> read_idx(const std::filesystem::path& path) {
  const std::string name = path.string(), bytes = detail::load_file(path);
  detail::byte_reader reader(name, bytes);
  if (reader.big(2, "the magic number of IDX") != 0)
    reader.fail({"expected an IDX file, which begins with two bytes of 0"});
  const int code = static_cast<int>(reader.big(1, "the element type"));
  const detail::idx_type* type = nullptr;
  for (const detail::idx_type& t : detail::idx_types)
    if (t.code == code) type = &t;
  if (type == nullptr) reader.fail({"expected an element type of IDX, 8 to 14, got ", std::to_string(code)});
  if (type->type != detail::dtype_of<T>)
    reader.fail({"expected elements of ", name_of(detail::dtype_of<T>), ", got ", type->name}, problem::file_mismatch);

  detail::file_layout layout{.order = std::endian::big};
  const auto rank = static_cast<std::size_t>(reader.big(1, "the number of axes"));
  for (std::size_t i = 0; i < rank; ++i) layout.dims.push_back(reader.big(4, "an extent"));
  return detail::read_elements<T, Extents...>(reader, layout);
}

}  // namespace flowgraph
