// Tables of text: fg::csv<columns...>(path) reads a whole file into typed columns, or throws and gives nothing. Quoted
// fields follow RFC 4180.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_error.hpp>
#include <flowgraph/formats/file_limits.hpp>
#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/formats/loaded_array.hpp>
#include "from_memory.hpp"

namespace flowgraph {

struct csv_options {
  char separator = ',';
  bool header = false;  // the first line holds names, and is skipped
  file_limits limits = {};
};

namespace detail {

inline constexpr dim csv_rows{"rows"};

// Neighbouring fields of every record that belong together: numbers, or one of text.
struct csv_fields {
  dtype type;  // none: text
  std::size_t width;
};
struct csv_values {
  aligned_buffer<std::byte> numbers;  // row by row
  std::vector<std::string> texts;
};
struct csv_table {
  std::int64_t rows = 0;
  std::vector<csv_values> columns;
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF csv_table load_csv(const file_path& path, const csv_options& o,
                                        std::span<const csv_fields> fields);

}  // namespace FLOWGRAPH_HALF

// What a column, or as many as an array has elements, becomes.
template <class Column>
struct csv_column;

template <class Array>
struct csv_numbers {
  static auto finish(csv_values& v, std::int64_t rows) {
    loaded_array loaded{{rows}, std::move(v.numbers)};
    for (int i = 1; i < Array::rank; ++i) loaded.dims[i] = Array::shape.number[i];
    return std::move(loaded).as<Array>();
  }
};

template <element T>
struct csv_column<T> : csv_numbers<ndarray<T, csv_rows>> {
  static constexpr csv_fields fields{dtype_of<T>, 1};
};

template <>
struct csv_column<std::string> {
  static constexpr csv_fields fields{dtype::none, 1};
  static std::vector<std::string> finish(csv_values& v, std::int64_t) { return std::move(v.texts); }
};

template <class T, auto... Extents>
struct csv_column<ndarray<T, Extents...>> : csv_numbers<ndarray<T, csv_rows, Extents...>> {
  static_assert(ndarray<T, Extents...>::is_static, "csv: the extents of an array of columns must be numbers");
  static constexpr csv_fields fields{dtype_of<T>, (std::size_t{1} * ... * static_cast<std::size_t>(Extents))};
};

}  // namespace detail

// A dataset of a file's rows. Each column is an element type, std::string, or fg::ndarray<T, n> for n columns in a row:
// csv<fg::ndarray<float, 64>, std::int64_t>("digits.csv"). Throws file_error with the line.
template <class... Columns>
  requires(sizeof...(Columns) > 0)
auto csv(const file_path& path, const csv_options& options = {}) {
  static constexpr detail::csv_fields fields[] = {detail::csv_column<Columns>::fields...};
  detail::csv_table table = detail::load_csv(path, options, fields);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return from_memory(detail::csv_column<Columns>::finish(table.columns[I], table.rows)...);
  }(std::index_sequence_for<Columns...>{});
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "csv_code.hpp"
#endif
