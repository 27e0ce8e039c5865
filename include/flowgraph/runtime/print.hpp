// fmt::print("{}", array), laid out as NumPy does: rows in brackets, columns aligned, long axes cut in the middle. A
// format such as {:.3f} is that of the elements.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "ndarray.hpp"

namespace flowgraph::detail {

// What an element is printed as.
template <class T>
using printed_t = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                     std::conditional_t<sizeof(T) == 1 && !std::is_same_v<T, bool>, int, T>>;

// Of an axis longer than the edges, only these many from both ends are shown; and only in arrays above this size.
inline constexpr std::int64_t print_edge = 3;
inline constexpr std::int64_t print_whole = 1000;

class array_printer {
 public:
  array_printer(std::vector<std::int64_t> dims, std::int64_t size) : dims_(std::move(dims)), cut_(size > print_whole) {}

  // element(i): the text of the i-th. Each is written twice: first to find the widest.
  template <class Element>
  std::string print(const Element& element) {
    std::size_t width = 0;
    visit(0, 0, [&](std::int64_t i) { width = std::max(width, element(i).size()); });
    write(0, 0, width, element);
    return std::move(out_);
  }

 private:
  int rank() const { return static_cast<int>(dims_.size()); }
  std::int64_t extent(int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  bool is_cut(int axis) const { return cut_ && extent(axis) > 2 * print_edge; }

  template <class F>
  void visit(int axis, std::int64_t at, const F& f) const {
    if (axis == rank()) return f(at);
    for (std::int64_t i = 0; i < extent(axis); ++i) {
      if (is_cut(axis) && i == print_edge) i = extent(axis) - print_edge;
      visit(axis + 1, at * extent(axis) + i, f);
    }
  }

  template <class Element>
  void write(int axis, std::int64_t at, std::size_t width, const Element& element) {
    if (axis == rank()) {
      const std::string text = element(at);
      out_.append(width - text.size(), ' ');
      out_ += text;
      return;
    }
    out_ += '[';
    for (std::int64_t i = 0; i < extent(axis); ++i) {
      if (i > 0) separate(axis);
      if (is_cut(axis) && i == print_edge) {
        out_ += "...";
        separate(axis);
        i = extent(axis) - print_edge;
      }
      write(axis + 1, at * extent(axis) + i, width, element);
    }
    out_ += ']';
  }
  // Rows stand below each other, blocks of rows with empty lines between.
  void separate(int axis) {
    const int inside = rank() - axis - 1;
    if (inside == 0) {
      out_ += ' ';
      return;
    }
    out_.append(static_cast<std::size_t>(inside), '\n');
    out_.append(static_cast<std::size_t>(axis + 1), ' ');
  }

  std::vector<std::int64_t> dims_;
  bool cut_;
  std::string out_;
};

}  // namespace flowgraph::detail

template <class T, auto... Extents>
struct fmt::formatter<flowgraph::ndarray<T, Extents...>> : fmt::formatter<flowgraph::detail::printed_t<T>> {
  template <class Context>
  auto format(const flowgraph::ndarray<T, Extents...>& a, Context& context) const {
    flowgraph::detail::array_printer printer({a.dims().begin(), a.dims().end()}, a.size());
    const std::string text = printer.print([&](std::int64_t i) {
      fmt::memory_buffer buffer;
      fmt::format_context inner{fmt::appender(buffer), fmt::format_args{}};
      fmt::formatter<flowgraph::detail::printed_t<T>>::format(static_cast<flowgraph::detail::printed_t<T>>(a.data()[i]),
                                                              inner);
      return fmt::to_string(buffer);
    });
    return std::copy(text.begin(), text.end(), context.out());
  }
};
