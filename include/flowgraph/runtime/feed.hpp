// What a step is fed: fg::feed<"x">(data), fg::feed(handle, data), fg::feed("x", data). Data is borrowed until the
// step ends and never copied by the feed itself.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <type_traits>

#include "ndarray.hpp"

namespace flowgraph {

namespace detail {

// Borrowed numbers. flat: a run of `count` elements whose shape follows from the tensor that it is fed to.
struct borrowed {
  const void* data = nullptr;
  dtype type = dtype::none;
  bool flat = false;
  int rank = 0;
  std::int64_t dims[max_rank]{};
  std::int64_t count = 1;
};

// What the compiler knows of data by its type: the element type; flat or of a rank; extents, -1 where they are
// known only when the program runs. A flat one has its count in extent[0].
struct data_layout {
  dtype type = dtype::none;
  bool flat = false;
  int rank = 0;
  std::int64_t extent[max_rank]{};
};

template <class D>
inline constexpr data_layout layout_of{};

template <element T>
inline constexpr data_layout layout_of<T> = {dtype_of<T>, false, 0, {}};

template <class T, auto... E>
inline constexpr data_layout layout_of<ndarray<T, E...>> = [] {
  data_layout l{dtype_of<T>, false, static_cast<int>(sizeof...(E)), {}};
  for (int i = 0; i < l.rank; ++i) l.extent[i] = ndarray<T, E...>::shape.number[i];
  return l;
}();

// Rows of rows have a shape; one row alone is flat.
template <class Row>
constexpr data_layout layout_of_rows(std::size_t n) {
  data_layout l = layout_of<Row>;
  if (l.type == dtype::none || l.rank == max_rank) return {};
  l.flat = l.rank == 0;
  for (int i = l.rank++; i > 0; --i) l.extent[i] = l.extent[i - 1];
  l.extent[0] = static_cast<std::int64_t>(n);
  return l;
}
template <class Row, std::size_t N>
inline constexpr data_layout layout_of<std::array<Row, N>> = layout_of_rows<std::remove_cv_t<Row>>(N);
template <class Row, std::size_t N>
inline constexpr data_layout layout_of<Row[N]> = layout_of_rows<std::remove_cv_t<Row>>(N);

template <class D>
concept run_of_elements = std::ranges::contiguous_range<const D> && std::ranges::sized_range<const D> &&
                          element<std::remove_cv_t<std::ranges::range_value_t<const D>>>;

// std::vector, std::span and the like.
template <run_of_elements D>
  requires(layout_of<D>.type == dtype::none)
constexpr data_layout run_layout() {
  return {dtype_of<std::remove_cv_t<std::ranges::range_value_t<const D>>>, true, 1, {-1}};
}

template <class D>
constexpr data_layout data_layout_of() {
  if constexpr (layout_of<D>.type != dtype::none || !run_of_elements<D>)
    return layout_of<D>;
  else
    return run_layout<D>();
}

template <class D>
const void* first_element(const D& data) {
  if constexpr (element<D>)
    return &data;
  else if constexpr (std::is_array_v<D>)
    return first_element(data[0]);
  else if constexpr (requires { data.data(); })
    return data.data();
  else
    return std::ranges::data(data);
}

template <class D>
borrowed borrow(const D& data) {
  constexpr data_layout l = data_layout_of<D>();
  borrowed b{first_element(data), l.type, l.flat, l.rank, {}, 1};
  if constexpr (l.flat && l.extent[0] < 0) {
    b.dims[0] = static_cast<std::int64_t>(std::ranges::size(data));
  } else {
    for (int i = 0; i < l.rank; ++i) b.dims[i] = l.extent[i];
    if constexpr (requires { data.dims(); })
      for (int i = 0; i < l.rank; ++i) b.dims[i] = data.dim(i);
  }
  for (int i = 0; i < b.rank; ++i) b.count *= b.dims[i];
  return b;
}

}  // namespace detail

// What can be fed: std::vector, std::span, std::array, C arrays and fg::ndarray of an element type, and single
// numbers for scalars. std::vector<bool> can't: it has no bools in memory.
template <class D>
concept feedable = detail::data_layout_of<std::remove_cvref_t<D>>().type != dtype::none;

namespace detail {

template <fixed_string Name, class D>
struct named_feed {
  borrowed data;
};
template <class Tensor, class D>
struct handle_feed {
  const graph_data* graph;
  int id;
  borrowed data;
};
struct text_feed {
  std::string_view name;
  borrowed data;
};

template <class T>
inline constexpr bool is_feed = false;
template <fixed_string Name, class D>
inline constexpr bool is_feed<named_feed<Name, D>> = true;
template <class Tensor, class D>
inline constexpr bool is_feed<handle_feed<Tensor, D>> = true;
template <>
inline constexpr bool is_feed<text_feed> = true;

enum class feed_fit { ok, wrong_type, wrong_extents };

// As far as types tell.
constexpr feed_fit fits(const data_layout& data, dtype type, const shape_text& shape) {
  if (data.type != type) return feed_fit::wrong_type;
  if (!data.flat) {
    if (data.rank != shape.rank) return feed_fit::wrong_extents;
    for (int i = 0; i < data.rank; ++i)
      if (data.extent[i] >= 0 && shape.number[i] >= 0 && data.extent[i] != shape.number[i])
        return feed_fit::wrong_extents;
    return feed_fit::ok;
  }
  if (data.extent[0] < 0) return feed_fit::ok;
  std::int64_t known = 1;
  bool named = false;
  for (int i = 0; i < shape.rank; ++i) {
    if (shape.number[i] >= 0)
      known *= shape.number[i];
    else
      named = true;
  }
  const bool fit = named ? (known == 0 ? data.extent[0] == 0 : data.extent[0] % known == 0) : data.extent[0] == known;
  return fit ? feed_fit::ok : feed_fit::wrong_extents;
}

}  // namespace detail

// For a session<model>, whose names the compiler knows.
template <fixed_string Name, feedable D>
detail::named_feed<Name, std::remove_cvref_t<D>> feed(const D& data) {
  return {detail::borrow(data)};
}

// For a graph that was built when the program ran: what fits is checked by the compiler, as far as types tell.
template <any_tensor T, feedable D>
detail::handle_feed<tensor_t<T>, std::remove_cvref_t<D>> feed(const T& handle, const D& data) {
  using target = tensor_t<T>;
  constexpr detail::feed_fit fit =
      detail::fits(detail::data_layout_of<D>(), detail::dtype_of<element_t<T>>, target::shape);
  if constexpr (fit == detail::feed_fit::wrong_type) detail::mistake<problem::feed_dtype, D, required<target>>();
  if constexpr (fit == detail::feed_fit::wrong_extents) detail::mistake<problem::feed_extents, D, required<target>>();
  return {handle.graph, handle.id, detail::borrow(data)};
}

// By a name that is only known when the program runs.
template <feedable D>
detail::text_feed feed(std::string_view name, const D& data) {
  return {name, detail::borrow(data)};
}

}  // namespace flowgraph
