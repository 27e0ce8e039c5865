// Numbers that somebody else owns, lent to a step or to an array: what the compiler knows of them by their type, where
// they lie, and which extents they have. fg::ndarray (ndarray.hpp), Eigen's types (eigen.hpp) and DLPack's (dlpack.hpp)
// join with a specialisation of data_traits.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <type_traits>

#include <flowgraph/language/tensor.hpp>

namespace flowgraph {

namespace detail {

// Contiguous, row by row. flat: a run of `count` elements whose shape follows from what it is lent to.
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

// Specialised for every type that is data:
//   layout              a data_layout
//   data(D&)            the first element, const where D is
//   dims(d, to)         the extents; of no interest where the layout has them all
//   keep                optional, for data that may not lie row by row in memory: what holds the copy. Then
//                       data(const D&, keep&) makes it where it has to, and copy(const D&, keep&) always.
template <class D>
struct data_traits {
  static constexpr data_layout layout{};
};

struct whole_layout {
  template <class D>
  static void dims(const D&, std::int64_t*) {}
};

// A number.
template <element T>
struct data_traits<T> : whole_layout {
  static constexpr data_layout layout{dtype_of<T>, false, 0, {}};
  template <class D>
  static D* data(D& x) {
    return &x;
  }
};

// Rows of rows have a shape; one row alone is flat.
template <class Row, std::size_t N>
struct row_traits : whole_layout {
  static constexpr data_layout layout = [] {
    data_layout l = data_traits<std::remove_cv_t<Row>>::layout;
    if (l.type == dtype::none || l.rank == max_rank) return data_layout{};
    l.flat = l.rank == 0;
    for (int i = l.rank++; i > 0; --i) l.extent[i] = l.extent[i - 1];
    l.extent[0] = static_cast<std::int64_t>(N);
    return l;
  }();
  template <class D>
  static auto data(D& rows) {
    return data_traits<std::remove_cv_t<Row>>::data(*std::data(rows));
  }
};
template <class Row, std::size_t N>
struct data_traits<Row[N]> : row_traits<Row, N> {};
template <class Row, std::size_t N>
struct data_traits<std::array<Row, N>> : row_traits<Row, N> {};
template <class Row>
struct data_traits<std::array<Row, 0>> : row_traits<Row, 0> {
  template <class D>
  static auto data(D& none) {
    return none.data();
  }
};

template <class D>
concept run_of_elements = requires(const D& d) {
  { std::begin(d) } -> std::contiguous_iterator;
  { std::size(d) } -> std::integral;
  requires element<std::iter_value_t<decltype(std::begin(d))>>;
};

// std::vector, std::span and the like.
template <run_of_elements D>
struct data_traits<D> {
  static constexpr data_layout layout{
      dtype_of<std::iter_value_t<decltype(std::begin(std::declval<const D&>()))>>, true, 1, {-1}};
  template <class Run>
  static auto data(Run& run) {
    return std::to_address(std::begin(run));
  }
  static void dims(const D& run, std::int64_t* to) { to[0] = static_cast<std::int64_t>(std::size(run)); }
};

template <class D>
constexpr const data_layout& data_layout_of() {
  return data_traits<D>::layout;
}

}  // namespace detail

// What can be fed, and what an array can be made of: std::vector, std::span, std::array and C arrays (also nested) of
// an element type, fg::ndarray and fg::ndview, single numbers for scalars; with arrays/eigen.hpp Eigen's matrices,
// arrays, maps and expressions. std::vector<bool> can't: it has no bools in memory.
template <class D>
concept feedable = detail::data_layout_of<std::remove_cvref_t<D>>().type != dtype::none;

namespace detail {

template <class D>
concept copied_data = requires { typename data_traits<D>::keep; };

// Borrowed for as long as this lives, which must not be longer than the data; where it does not lie row by row in
// memory, its copy.
template <class D>
struct lent {
  struct nothing {};
  template <class Any>
  struct keep_of {
    using type = nothing;
  };
  template <copied_data Any>
  struct keep_of<Any> {
    using type = typename data_traits<Any>::keep;
  };

  [[no_unique_address]] typename keep_of<D>::type keep;
  borrowed data;

  explicit lent(const D& from) {
    using traits = data_traits<D>;
    constexpr const data_layout& l = traits::layout;
    data.type = l.type;
    data.flat = l.flat;
    data.rank = l.rank;
    for (int i = 0; i < l.rank; ++i) data.dims[i] = l.extent[i];
    traits::dims(from, data.dims);
    for (int i = 0; i < l.rank; ++i) data.count *= data.dims[i];
    if constexpr (copied_data<D>)
      data.data = traits::data(from, keep);
    else
      data.data = traits::data(from);
  }
};

// What was moved in: lent for as long as this lives, wherever it is moved or copied to.
template <class D>
struct owned {
  explicit owned(D&& from) : value(static_cast<D&&>(from)), data(lent<D>(value).data) {}
  owned(owned&& other) noexcept : value(static_cast<D&&>(other.value)), data(other.data) { find(); }
  owned(const owned& other) : value(other.value), data(other.data) { find(); }
  owned& operator=(const owned&) = delete;

  D value;
  borrowed data;

 private:
  void find() { data.data = data_traits<D>::data(static_cast<const D&>(value)); }
};
template <class Row, std::size_t N>
struct owned<Row[N]> {
  explicit owned(const Row (&from)[N]) : data(lent<Row[N]>(from).data) {
    std::memcpy(value, from, sizeof value);
    find();
  }
  owned(const owned& other) : data(other.data) {
    std::memcpy(value, other.value, sizeof value);
    find();
  }
  owned& operator=(const owned&) = delete;

  Row value[N];
  borrowed data;

 private:
  void find() { data.data = value; }
};
// An expression may lie in memory that ends with the line that it stands in: its elements are copied.
template <copied_data D>
struct owned<D> {
  explicit owned(const D& from) {
    constexpr const data_layout& l = data_traits<D>::layout;
    data = {nullptr, l.type, l.flat, l.rank, {}, 1};
    data_traits<D>::dims(from, data.dims);
    for (int i = 0; i < l.rank; ++i) data.count *= data.dims[i];
    data.data = data_traits<D>::copy(from, keep);
  }

  typename data_traits<D>::keep keep;
  borrowed data;
};

// Data by whether it was moved in.
template <class D, bool Owned>
using held_data = std::conditional_t<Owned, owned<D>, lent<D>>;
template <class Given>
inline constexpr bool is_moved_in = !std::is_lvalue_reference_v<Given>;

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
}  // namespace flowgraph
