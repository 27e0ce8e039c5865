// Tables of text: fg::csv<columns...>(path) reads a whole file into typed columns, or throws and gives nothing. Quoted
// fields follow RFC 4180.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/formats/file_bytes.hpp>
#include <flowgraph/formats/real_text.hpp>
#include "from_memory.hpp"

namespace flowgraph {

struct csv_options {
  char separator = ',';
  bool header = false;  // the first line holds names, and is skipped
};

namespace detail {

// The fields of one record after another, and the line it began on.
class csv_records {
 public:
  csv_records(std::string_view file, std::string_view text, char separator)
      : file_(file),
        text_(text),
        separator_(separator) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // the mark that some programs begin UTF-8 with
  }

  // False at the end. Empty lines hold no record.
  bool next(std::vector<std::string>& fields) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'))
      if (text_[at_++] == '\n') ++next_line_;
    line_ = next_line_;
    if (at_ == text_.size()) return false;
    fields.clear();
    do fields.push_back(field());
    while (at_ < text_.size() && text_[at_++] == separator_);
    return true;
  }
  long long line() const { return line_; }

  [[noreturn]] void fail(std::initializer_list<std::string_view> parts, problem why = problem::file_malformed) const {
    throw file_error(why, file_, {.line = line_}, parts);
  }

 private:
  // Leaves at_ at the separator or the end of the line.
  std::string field() {
    std::string value;
    if (at_ < text_.size() && text_[at_] == '"') {
      for (++at_;; ++at_) {
        if (at_ == text_.size()) fail({"expected a quotation mark that ends the field, got the end of the file"});
        if (text_[at_] == '\n') ++next_line_;
        if (text_[at_] == '"' && (++at_ == text_.size() || text_[at_] != '"')) break;
        value += text_[at_];
      }
      if (text_.substr(at_, 2) == "\r\n") ++at_;
      if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n')
        fail({"expected a separator after a quoted field, got '", text_.substr(at_, 1), "'"});
    } else {
      const char ends[] = {separator_, '\n'};
      const std::size_t end = std::min(text_.find_first_of(std::string_view(ends, 2), at_), text_.size());
      value = text_.substr(at_, end - at_);
      at_ = end;
      if (value.ends_with('\r') && (at_ == text_.size() || text_[at_] == '\n')) value.pop_back();
    }
    if (at_ < text_.size() && text_[at_] == '\n') ++next_line_;
    return value;
  }

  std::string_view file_, text_;
  char separator_;
  std::size_t at_ = 0;
  long long line_ = 1, next_line_ = 1;
};

// False where the text is no number, or none that T can hold.
template <class T>
bool parse_number(std::string_view text, T& to) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  if constexpr (std::is_same_v<T, bool>) {
    to = text == "1" || text == "true" || text == "True";
    return to || text == "0" || text == "false" || text == "False";
  } else if constexpr (std::is_arithmetic_v<T>) {
    const char* const last = text.data() + text.size();
    const auto [end, problem] = [&] {
      if constexpr (std::is_floating_point_v<T>)
        return read_real(text.data(), last, to);
      else
        return std::from_chars(text.data(), last, to);
    }();
    if constexpr (std::is_floating_point_v<T>) {
      if (problem == std::errc::result_out_of_range) {  // too large, or so small that it is 0
        long double wide = 0;
        const bool known = read_real(text.data(), last, wide).ec == std::errc{};
        to = static_cast<T>(wide);
        return end == last && known && wide > -1 && wide < 1;
      }
    }
    return problem == std::errc{} && end == last;
  } else {
    float wide = 0;
    const bool ok = parse_number(text, wide);
    to = T(wide);
    return ok;
  }
}

inline constexpr dim csv_rows{"rows"};

// What a column, or as many as an array has elements, is gathered in.
template <class Column>
struct csv_column;

template <element T>
struct csv_column<T> {
  static constexpr std::size_t width = 1;
  std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> values;

  void add(const csv_records& records, const std::string* fields, std::size_t first) {
    T value{};
    if (!parse_number(*fields, value))
      records.fail({"column ", std::to_string(first + 1), ": expected a number of type ", name_of(dtype_of<T>),
                    ", got \"", *fields, "\""});
    values.push_back(value);
  }
  auto finish() && {
    ndarray<T, csv_rows> column(csv_rows(static_cast<std::int64_t>(values.size())));
    std::copy(values.begin(), values.end(), column.data());
    return column;
  }
};

template <>
struct csv_column<std::string> {
  static constexpr std::size_t width = 1;
  std::vector<std::string> values;

  void add(const csv_records&, const std::string* fields, std::size_t) { values.push_back(*fields); }
  std::vector<std::string> finish() && { return std::move(values); }
};

template <class T, auto... Extents>
struct csv_column<ndarray<T, Extents...>> {
  static_assert(ndarray<T, Extents...>::is_static, "csv: the extents of an array of columns must be numbers");
  static constexpr std::size_t width = (std::size_t{1} * ... * static_cast<std::size_t>(Extents));
  csv_column<T> elements;
  std::int64_t rows = 0;

  void add(const csv_records& records, const std::string* fields, std::size_t first) {
    for (std::size_t i = 0; i < width; ++i) elements.add(records, fields + i, first + i);
    ++rows;
  }
  auto finish() && {
    ndarray<T, csv_rows, Extents...> column(csv_rows(rows));
    std::copy(elements.values.begin(), elements.values.end(), column.data());
    return column;
  }
};

template <class... Columns>
auto read_csv(const std::filesystem::path& path, const csv_options& options) {
  constexpr std::size_t width = (csv_column<Columns>::width + ... + 0);
  const std::string name = path.string(), text = load_file(path);
  csv_records records(name, text, options.separator);
  std::tuple<csv_column<Columns>...> columns;
  std::vector<std::string> fields;
  if (options.header) records.next(fields);
  while (records.next(fields)) {
    if (fields.size() != width)
      records.fail({"expected ", std::to_string(width), " fields, got ", std::to_string(fields.size())},
                   problem::file_mismatch);
    std::size_t first = 0;
    const auto add = [&](auto& column) {
      column.add(records, fields.data() + first, first);
      first += std::remove_reference_t<decltype(column)>::width;
    };
    std::apply([&](auto&... column) { (add(column), ...); }, columns);
  }
  return std::apply([](auto&&... column) { return from_memory(std::move(column).finish()...); }, std::move(columns));
}

}  // namespace detail

// A dataset of a file's rows. Each column is an element type, std::string, or fg::ndarray<T, n> for n columns in a row:
// csv<fg::ndarray<float, 64>, std::int64_t>("digits.csv"). Throws file_error with the line.
template <class... Columns>
  requires(sizeof...(Columns) > 0)
auto csv(const std::filesystem::path& path, const csv_options& options = {}) {
  return detail::read_csv<Columns...>(path, options);
}

}  // namespace flowgraph
