// What a step is fed: fg::feed<"x">(data), fg::feed(handle, data), fg::feed("x", data). Data is borrowed until the
// step ends; only what does not lie row by row in memory is copied, once, when it is fed.
#pragma once
#include <string_view>
#include <type_traits>

#include <flowgraph/arrays/ndarray.hpp>

namespace flowgraph {

namespace detail {

template <fixed_string Name, class D>
struct named_feed : lent<D> {
  using lent<D>::lent;
};
template <class Tensor, class D>
struct handle_feed : lent<D> {
  handle_feed(const Tensor& handle, const D& from) : lent<D>(from), graph(handle.graph), id(handle.id) {}

  const graph_data* graph;
  int id;
};
struct text_feed {
  std::string_view name;
};
template <class D>
struct lent_text_feed : text_feed, lent<D> {
  lent_text_feed(std::string_view text, const D& from) : text_feed{text}, lent<D>(from) {}
};

template <class T>
inline constexpr bool is_feed = false;
template <fixed_string Name, class D>
inline constexpr bool is_feed<named_feed<Name, D>> = true;
template <class Tensor, class D>
inline constexpr bool is_feed<handle_feed<Tensor, D>> = true;
template <class D>
inline constexpr bool is_feed<lent_text_feed<D>> = true;

}  // namespace detail

// For a session<model>, whose names the compiler knows.
template <fixed_string Name, feedable D>
detail::named_feed<Name, D> feed(const D& data) {
  return detail::named_feed<Name, D>(data);
}

// For a graph that was built when the program ran: what fits is checked by the compiler, as far as types tell.
template <any_tensor T, feedable D>
detail::handle_feed<tensor_t<T>, D> feed(const T& handle, const D& data) {
  using target = tensor_t<T>;
  constexpr detail::feed_fit fit =
      detail::fits(detail::data_layout_of<D>(), detail::dtype_of<element_t<T>>, target::shape);
  if constexpr (fit == detail::feed_fit::wrong_type) detail::mistake<problem::feed_dtype, D, required<target>>();
  if constexpr (fit == detail::feed_fit::wrong_extents) detail::mistake<problem::feed_extents, D, required<target>>();
  return {handle, data};
}

// By a name that is only known when the program runs.
template <feedable D>
detail::lent_text_feed<D> feed(std::string_view name, const D& data) {
  return {name, data};
}

}  // namespace flowgraph
