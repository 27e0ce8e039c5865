// Data in memory as a dataset: fg::from_memory(images, labels).
#pragma once
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/arrays/ndarray.hpp>
#include "dataset.hpp"

namespace flowgraph {

namespace detail {

template <class T>
inline constexpr bool is_array = false;
template <class T, auto First, auto... Rest>
inline constexpr bool is_array<ndarray<T, First, Rest...>> = true;
template <class T, auto First, auto... Rest>
inline constexpr bool is_array<ndview<T, First, Rest...>> = true;

template <class T>
inline constexpr bool borrows_rows = std::ranges::view<T>;
template <class T, auto... E>
inline constexpr bool borrows_rows<ndview<T, E...>> = true;

template <class T>
concept rows_in_memory =
    is_array<T> || (std::ranges::random_access_range<const T> && std::ranges::sized_range<const T>);

template <class Rows>
std::int64_t count_rows(const Rows& rows) {
  if constexpr (is_array<Rows>)
    return rows.dim(0);
  else
    return static_cast<std::int64_t>(std::ranges::size(rows));
}

// A number, a view of a row, or a copy of what a range holds.
template <class Rows>
auto row_at(const Rows& rows, std::int64_t i) {
  if constexpr (is_array<Rows>) {
    return rows[i];
  } else {
    const auto at = static_cast<std::ranges::range_difference_t<const Rows>>(i);
    return static_cast<std::ranges::range_value_t<const Rows>>(std::ranges::begin(rows)[at]);
  }
}

// Kept is Rows for what was moved in, const Rows* for what is borrowed.
template <class... Kept>
struct memory_source {
  std::shared_ptr<const std::tuple<Kept...>> kept;
  std::int64_t rows;

  struct pass {
    const memory_source* from;

    std::int64_t size() const { return from->rows; }
    auto at(std::int64_t i) const {
      const auto& all = *from->kept;
      if constexpr (sizeof...(Kept) == 1)
        return row_at(held(std::get<0>(all)), i);
      else
        return std::apply([i](const auto&... k) { return std::tuple(row_at(held(k), i)...); }, all);
    }
  };
  pass open(std::uint64_t) const { return {this}; }

  template <class K>
  static const auto& held(const K& k) {
    if constexpr (std::is_pointer_v<K>)
      return *k;
    else
      return k;
  }
};

template <class Rows>
auto keep(Rows&& rows) {
  if constexpr (std::is_lvalue_reference_v<Rows> && !borrows_rows<std::remove_cvref_t<Rows>>)
    return static_cast<const std::remove_reference_t<Rows>*>(&rows);
  else
    return std::remove_cvref_t<Rows>(std::forward<Rows>(rows));
}

}  // namespace detail

// The rows of one or more arrays or ranges, in step: numbers, views of an array's rows (fg::ndview), copies of what a
// range holds. One array gives its rows, several give tuples of them. As with std::views::all, an lvalue is borrowed
// and must outlive the dataset; what is moved in is shared by all that is made from the dataset, and views live as
// long.
template <class... Rows>
  requires(sizeof...(Rows) > 0 && (detail::rows_in_memory<std::remove_cvref_t<Rows>> && ...))
auto from_memory(Rows&&... rows) {
  const std::int64_t counts[] = {detail::count_rows(rows)...};
  for (const std::int64_t n : counts)
    if (n != counts[0])
      throw argument_error(problem::dataset_rows, "from_memory: expected equally many rows in each array, got " +
                                                      std::to_string(counts[0]) + " and " + std::to_string(n));
  using kept = std::tuple<decltype(detail::keep(std::forward<Rows>(rows)))...>;
  using from = detail::memory_source<decltype(detail::keep(std::forward<Rows>(rows)))...>;
  return dataset<from>(from{std::make_shared<const kept>(detail::keep(std::forward<Rows>(rows))...), counts[0]});
}

}  // namespace flowgraph
