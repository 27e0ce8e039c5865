// fmt::print("{}", array) and std::cout << array, as NumPy does it: rows in brackets, columns aligned, long axes cut in
// the middle, long rows broken. A format such as {:.3f} is that of the elements.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "ndarray.hpp"
#include "number_text.hpp"

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

// What a format such as {:.3f} is applied to.
template <class T>
using printed_t = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                     std::conditional_t<sizeof(T) == 1 && !std::is_same_v<T, bool>, int, T>>;

template <class Array>
std::string array_text(const Array& a) {
  using T = typename Array::value_type;
  if constexpr (Array::rank == 0) {
    return number_text<T>::alone(*a.data());
  } else {
    array_printer printer(a.dims().data(), Array::rank, a.size());
    std::vector<T> values;
    for (const std::int64_t i : printer.shown()) values.push_back(a.data()[i]);
    const number_text<T> style(values);
    std::vector<std::string> words;
    for (const T x : values) words.push_back(style(x));
    return a.size() == 0 ? "[]" : printer.print(words);
  }
}

template <class Array>
struct array_formatter : fmt::formatter<printed_t<typename Array::value_type>> {
  using number = printed_t<typename Array::value_type>;

  constexpr auto parse(fmt::format_parse_context& context) {
    plain_ = context.begin() == context.end() || *context.begin() == '}';
    return fmt::formatter<number>::parse(context);
  }

  template <class Context>
  auto format(const Array& a, Context& context) const {
    const std::string text = plain_ ? array_text(a) : formatted(a);
    return std::copy(text.begin(), text.end(), context.out());
  }

 private:
  std::string formatted(const Array& a) const {
    array_printer printer(a.dims().data(), Array::rank, a.size());
    std::vector<std::string> words;
    std::size_t width = 0;
    for (const std::int64_t i : printer.shown()) {
      fmt::memory_buffer buffer;
      fmt::format_context inner{fmt::appender(buffer), fmt::format_args{}};
      fmt::formatter<number>::format(static_cast<number>(a.data()[i]), inner);
      words.push_back(fmt::to_string(buffer));
      width = std::max(width, words.back().size());
    }
    for (std::string& w : words) w.insert(0, width - w.size(), ' ');
    return a.size() == 0 ? "[]" : printer.print(words);
  }

  bool plain_ = true;
};

}  // namespace flowgraph::detail

template <class T, auto... Extents>
struct fmt::formatter<flowgraph::ndarray<T, Extents...>>
    : flowgraph::detail::array_formatter<flowgraph::ndarray<T, Extents...>> {};
template <class T, auto... Extents>
struct fmt::formatter<flowgraph::ndview<T, Extents...>>
    : flowgraph::detail::array_formatter<flowgraph::ndview<T, Extents...>> {};

namespace flowgraph {

template <class Traits, class T, auto... Extents>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const ndarray<T, Extents...>& a) {
  return out << detail::array_text(a);
}
template <class Traits, class T, auto... Extents>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const ndview<T, Extents...>& a) {
  return out << detail::array_text(a);
}

}  // namespace flowgraph
