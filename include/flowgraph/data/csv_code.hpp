// Defines what csv.hpp declares: records, fields and numbers out of text.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/formats/file_bytes.hpp>
#include <flowgraph/formats/real_text.hpp>
#include "csv.hpp"

namespace flowgraph::detail {

// The fields of one record after another, and the line it began on.
class csv_records {
 public:
  csv_records(std::string_view file, std::string_view text, char separator)
      : file_(file),
        text_(text),
        separator_(separator) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // the mark that some programs begin UTF-8 with
  }

  // False at the end. Empty lines hold no record. Of more fields than `most`, the rest is only counted.
  bool next(std::vector<std::string>& fields, std::size_t most) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'))
      if (text_[at_++] == '\n') ++next_line_;
    line_ = next_line_;
    if (at_ == text_.size()) return false;
    fields.clear();
    found_ = 0;
    do {
      std::string one = field();
      if (found_++ < most) fields.push_back(std::move(one));
    } while (at_ < text_.size() && text_[at_++] == separator_);
    return true;
  }
  // In the last record.
  std::size_t found() const { return found_; }
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
  std::size_t at_ = 0, found_ = 0;
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
    return ok && std::isinf(static_cast<float>(to)) == std::isinf(wide);  // what is finite stays so
  }
}

// What a column is gathered in until all rows are known.
struct csv_gathered {
  std::vector<std::byte> numbers;
  std::vector<std::string> texts;

  // index: of the column, from 0 on.
  void add(const csv_records& records, std::string& field, std::size_t index, dtype type, memory_budget& budget) {
    if (type == dtype::none) {
      budget.spend(2 * sizeof(std::string) + field.size());  // twice: memory that grows is copied
      texts.push_back(std::move(field));
      return;
    }
    with_type(type, [&]<class T>(T value) {
      if (!parse_number(field, value))
        records.fail({"column ", std::to_string(index + 1), ": expected a number of type ", name_of(type), ", got \"",
                      field, "\""});
      budget.spend(2 * sizeof(T));
      const std::size_t end = numbers.size();
      numbers.resize(end + sizeof(T));
      std::memcpy(numbers.data() + end, &value, sizeof(T));
    });
  }
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF csv_table load_csv(const file_path& path, const csv_options& o,
                                        std::span<const csv_fields> fields) {
  std::size_t width = 0;
  for (const csv_fields& f : fields) width += f.width;
  const std::string text = load_file(path, o.limits);
  memory_budget budget(path.string(), o.limits, text.size());
  csv_records records(path.string(), text, o.separator);
  std::vector<csv_gathered> columns(fields.size());
  csv_table table;
  std::vector<std::string> found;
  if (o.header) records.next(found, 0);
  for (; records.next(found, width); ++table.rows) {
    if (records.found() != width)
      records.fail({"expected ", std::to_string(width), " fields, got ", std::to_string(records.found())},
                   problem::file_mismatch);
    std::size_t index = 0;
    for (std::size_t k = 0; k < fields.size(); ++k)
      for (std::size_t i = 0; i < fields[k].width; ++i, ++index)
        columns[k].add(records, found[index], index, fields[k].type, budget);
  }
  for (csv_gathered& c : columns) {
    csv_values v{allocate_aligned<std::byte>(c.numbers.size()), std::move(c.texts)};
    std::copy(c.numbers.begin(), c.numbers.end(), v.numbers.get());
    table.columns.push_back(std::move(v));
  }
  return table;
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
