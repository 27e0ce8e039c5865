// Defines what print.hpp declares: arrays as NumPy writes them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "number_text.hpp"
#include "print.hpp"

namespace flowgraph::detail {

// Of an axis longer than the edges, only these many from both ends are shown; and only in arrays above this size.
inline constexpr std::int64_t print_edge = 3;
inline constexpr std::int64_t print_whole = 1000;
inline constexpr std::size_t print_width = 75;

class array_printer {
 public:
  array_printer(const std::int64_t* dims, int rank, std::int64_t size)
      : dims_(dims),
        rank_(rank),
        cut_(size > print_whole) {}

  // The places of the elements that are shown, in their order.
  std::vector<std::int64_t> shown() const {
    std::vector<std::int64_t> all;
    visit(0, 0, all);
    return all;
  }

  // The text with these words for the elements that are shown.
  std::string print(const std::vector<std::string>& words) {
    words_ = words.data();
    write(0);
    return std::move(out_);
  }

 private:
  bool is_cut(int axis) const { return cut_ && dims_[axis] > 2 * print_edge; }

  void visit(int axis, std::int64_t at, std::vector<std::int64_t>& all) const {
    if (axis == rank_) return all.push_back(at);
    for (std::int64_t i = 0; i < dims_[axis]; ++i) {
      if (is_cut(axis) && i == print_edge) i = dims_[axis] - print_edge;
      visit(axis + 1, at * dims_[axis] + i, all);
    }
  }

  void write(int axis) {
    if (axis == rank_) {
      out_ += *words_++;
      return;
    }
    out_ += '[';
    const bool row = axis + 1 == rank_;
    const std::int64_t n = is_cut(axis) ? 2 * print_edge + 1 : dims_[axis];
    for (std::int64_t i = 0; i < n; ++i) {
      const bool gap = is_cut(axis) && i == print_edge;
      if (i > 0) separate(axis, gap ? 3 : row ? words_->size() : 0);
      if (gap)
        out_ += "...";
      else
        write(axis + 1);
    }
    out_ += ']';
  }
  // Rows stand below each other, blocks of rows with empty lines between; a row that grows too long goes on in the next
  // line, with room for the brackets that end it.
  void separate(int axis, std::size_t next) {
    const int inside = rank_ - axis - 1;
    if (inside > 0) {
      out_.append(static_cast<std::size_t>(inside), '\n');
    } else {
      const std::size_t line = out_.size() - (out_.rfind('\n') + 1);
      if (line + 1 + next + static_cast<std::size_t>(axis) + 1 <= print_width) {
        out_ += ' ';
        return;
      }
      out_.erase(out_.find_last_not_of(' ') + 1);
      out_ += '\n';
    }
    out_.append(static_cast<std::size_t>(axis) + 1, ' ');
  }

  const std::int64_t* dims_;
  int rank_;
  bool cut_;
  const std::string* words_ = nullptr;
  std::string out_;
};

template <class T>
std::string text_of_elements(const printed_array& a) {
  const T* const data = static_cast<const T*>(a.data);
  if (a.rank == 0) return number_text<T>::alone(*data);
  array_printer printer(a.dims, a.rank, a.size);
  std::vector<T> values;
  for (const std::int64_t i : printer.shown()) values.push_back(data[i]);
  const number_text<T> style(values);
  std::vector<std::string> words;
  for (const T x : values) words.push_back(style(x));
  return a.size == 0 ? "[]" : printer.print(words);
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string array_text(const printed_array& a) {
  switch (a.type) {
    case dtype::boolean:
      return text_of_elements<bool>(a);
    case dtype::int8:
      return text_of_elements<std::int8_t>(a);
    case dtype::uint8:
      return text_of_elements<std::uint8_t>(a);
    case dtype::int32:
      return text_of_elements<std::int32_t>(a);
    case dtype::int64:
      return text_of_elements<std::int64_t>(a);
    case dtype::float16:
      return text_of_elements<half>(a);
    case dtype::bfloat16:
      return text_of_elements<bfloat16>(a);
    case dtype::float32:
      return text_of_elements<float>(a);
    default:
      return text_of_elements<double>(a);
  }
}

FLOWGRAPH_OTHER_HALF std::string array_text(const printed_array& a, callback<std::string(std::int64_t)> word) {
  array_printer printer(a.dims, a.rank, a.size);
  std::vector<std::string> words;
  std::size_t width = 0;
  for (const std::int64_t i : printer.shown()) {
    words.push_back(word(i));
    width = std::max(width, words.back().size());
  }
  for (std::string& w : words) w.insert(0, width - w.size(), ' ');
  return a.size == 0 ? "[]" : printer.print(words);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
