// What a step is fed: fg::feed<"x">(data), fg::feed(handle, data), fg::feed("x", data). Data that has a name is
// borrowed until the step ends; only what does not lie row by row in memory is copied, once, when it is fed. What is
// moved in, temporaries among it, lives in the feed.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/language/misuse.hpp>

namespace flowgraph {

namespace detail {

template <fixed_string Name, class D, bool Owned = false>
struct named_feed : held_data<D, Owned> {
  using held_data<D, Owned>::held_data;
};
template <class Tensor, class D, bool Owned = false>
struct handle_feed : held_data<D, Owned> {
  template <class Given>
  handle_feed(const Tensor& handle, Given&& from)
      : held_data<D, Owned>(static_cast<Given&&>(from)),
        graph(handle.graph),
        id(handle.id) {}

  const graph_data* graph;
  int id;
};
template <class Text, class D, bool Owned = false>
struct text_feed : held_data<D, Owned> {
  template <class Given>
  text_feed(Text&& text, Given&& from)
      : held_data<D, Owned>(static_cast<Given&&>(from)),
        name(static_cast<Text&&>(text)) {}

  Text name;
};

template <class T>
inline constexpr bool is_feed = false;
template <fixed_string Name, class D, bool Owned>
inline constexpr bool is_feed<named_feed<Name, D, Owned>> = true;
template <class Tensor, class D, bool Owned>
inline constexpr bool is_feed<handle_feed<Tensor, D, Owned>> = true;
template <class Text, class D, bool Owned>
inline constexpr bool is_feed<text_feed<Text, D, Owned>> = true;

}  // namespace detail

namespace detail {

// What feed gives after a mistake that the compiler has reported; run says nothing more of it.
struct unknown_feed {};

template <class D>
inline constexpr bool is_vector_of_bool = false;
template <class Allocator>
inline constexpr bool is_vector_of_bool<std::vector<bool, Allocator>> = true;

template <class D>
constexpr problem data_problem() {
  if constexpr (std::is_pointer_v<D>)
    return problem::feed_pointer;
  else if constexpr (is_vector_of_bool<D>)
    return problem::feed_bools;
  else if constexpr (requires(const D& d) { std::begin(*std::begin(d)); } &&
                     !std::is_convertible_v<D, std::string_view>)
    return problem::feed_nested;
  else
    return problem::feed_data;
}

template <class D>
constexpr auto refuse_data() {
  mistake<data_problem<std::remove_cvref_t<D>>(), std::remove_cvref_t<D>>();
  return unknown_feed{};
}

}  // namespace detail

// For a session<model>, whose names the compiler knows.
template <fixed_string Name, feedable D>
auto feed(D&& data) {
  return detail::named_feed<Name, std::remove_cvref_t<D>, detail::is_moved_in<D>>(static_cast<D&&>(data));
}

// Numbers in braces: fg::feed<"x">({1.f, 2.f}), and rows of them: fg::feed<"x">({{1.f, 2.f}, {3.f, 4.f}}).
template <fixed_string Name, element T, std::size_t N>
auto feed(T (&&data)[N]) {
  return detail::named_feed<Name, T[N], true>(static_cast<T(&&)[N]>(data));
}
template <fixed_string Name, element T, std::size_t Rows, std::size_t N>
auto feed(T (&&data)[Rows][N]) {
  return detail::named_feed<Name, T[Rows][N], true>(static_cast<T(&&)[Rows][N]>(data));
}

// For a graph that was built when the program ran: what fits is checked by the compiler, as far as types tell.
template <any_tensor T, feedable D>
auto feed(const T& handle, D&& data) {
  using target = tensor_t<T>;
  using given = std::remove_cvref_t<D>;
  constexpr detail::feed_fit fit =
      detail::fits(detail::data_layout_of<given>(), detail::dtype_of<element_t<T>>, target::shape);
  if constexpr (fit == detail::feed_fit::wrong_type) detail::mistake<problem::feed_dtype, given, required<target>>();
  if constexpr (fit == detail::feed_fit::wrong_extents)
    detail::mistake<problem::feed_extents, given, required<target>>();
  return detail::handle_feed<target, given, detail::is_moved_in<D>>(handle, static_cast<D&&>(data));
}

// By a name that is only known when the program runs.
template <feedable D>
auto feed(std::string_view name, D&& data) {
  return detail::text_feed<std::string_view, std::remove_cvref_t<D>, detail::is_moved_in<D>>(
      static_cast<std::string_view&&>(name), static_cast<D&&>(data));
}
template <std::same_as<std::string> Text, feedable D>
auto feed(Text&& name, D&& data) {
  return detail::text_feed<Text, std::remove_cvref_t<D>, detail::is_moved_in<D>>(static_cast<Text&&>(name),
                                                                                 static_cast<D&&>(data));
}

// Numbers in braces for a handle, or a name.
template <class To, element T, std::size_t N>
  requires(any_tensor<To> || detail::text_argument<std::remove_cvref_t<To>>)
auto feed(To&& to, T (&&data)[N]) {
  return feed(static_cast<To&&>(to), std::to_array(data));
}
template <class To, element T, std::size_t Rows, std::size_t N>
  requires(any_tensor<To> || detail::text_argument<std::remove_cvref_t<To>>)
auto feed(To&& to, T (&&data)[Rows][N]) {
  std::array<std::array<T, N>, Rows> all{};
  for (std::size_t i = 0; i < Rows; ++i) all[i] = std::to_array(data[i]);
  return feed(static_cast<To&&>(to), std::move(all));
}

// Calls that fit none of these.
template <fixed_string Name, class D>
  requires(!feedable<D>)
auto feed(D&& data) {
  static_cast<void>(data);
  return detail::refuse_data<D>();
}
template <class To, class D>
  requires((any_tensor<To> || detail::text_argument<To>) && !feedable<D>)
auto feed(const To&, D&&) {
  return detail::refuse_data<D>();
}
template <detail::nothing_stated = detail::nothing_stated{}, class D>
auto feed(const D&) {
  detail::mistake<problem::feed_name, D>();
  return detail::unknown_feed{};
}
template <class To, class D>
  requires(!any_tensor<To> && !detail::text_argument<To>)
auto feed(const To&, D&&) {
  if constexpr (!detail::is_unknown<To>) detail::mistake<problem::feed_name, To, std::remove_cvref_t<D>>();
  return detail::unknown_feed{};
}

}  // namespace flowgraph
