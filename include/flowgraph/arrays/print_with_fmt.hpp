// fmt::print("{}", array) as std::cout << array writes it; a format such as {:.3f} is that of the elements. Apart from
// print.hpp, since fmt would cost every other file a third of its time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "print.hpp"

namespace flowgraph::detail {

// What a format such as {:.3f} is applied to.
template <class T>
using printed_t = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                     std::conditional_t<sizeof(T) == 1 && !std::is_same_v<T, bool>, int, T>>;

template <class Array>
struct array_formatter : fmt::formatter<printed_t<typename Array::value_type>> {
  using number = printed_t<typename Array::value_type>;

  constexpr auto parse(fmt::format_parse_context& context) {
    plain_ = context.begin() == context.end() || *context.begin() == '}';
    return fmt::formatter<number>::parse(context);
  }

  template <class Context>
  auto format(const Array& a, Context& context) const {
    const auto word = [&](std::int64_t i) {
      fmt::memory_buffer buffer;
      fmt::format_context inner{fmt::appender(buffer), fmt::format_args{}};
      fmt::formatter<number>::format(static_cast<number>(a.data()[i]), inner);
      return fmt::to_string(buffer);
    };
    const std::string text = plain_ ? array_text(printed_array(a)) : array_text(printed_array(a), word);
    return std::copy(text.begin(), text.end(), context.out());
  }

 private:
  bool plain_ = true;
};

}  // namespace flowgraph::detail

// <fmt/ranges.h>, wherever it is included, has a formatter for everything with a begin and an end: arrays are no ranges
// for it, or there would be two.
FMT_BEGIN_NAMESPACE
template <class T, class Char>
struct is_range;
template <class T, auto... Extents, class Char>
struct is_range<flowgraph::ndarray<T, Extents...>, Char> : std::false_type {};
template <class T, auto... Extents, class Char>
struct is_range<flowgraph::ndview<T, Extents...>, Char> : std::false_type {};
FMT_END_NAMESPACE

template <class T, auto... Extents>
struct fmt::formatter<flowgraph::ndarray<T, Extents...>>
    : flowgraph::detail::array_formatter<flowgraph::ndarray<T, Extents...>> {};
template <class T, auto... Extents>
struct fmt::formatter<flowgraph::ndview<T, Extents...>>
    : flowgraph::detail::array_formatter<flowgraph::ndview<T, Extents...>> {};
