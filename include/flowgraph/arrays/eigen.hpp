// Arrays and Eigen. Eigen's dense types can be fed, and an fg::ndarray can be made of them: what is row-major without
// gaps is borrowed, everything else (column-major matrices, blocks, expressions) is copied. A vector of Eigen's is a
// flat run of values, as std::vector is. fg::as_eigen shows an array to Eigen. Who uses Eigen includes it: here its
// types are declared alone, since reading them costs a compiler more than all of the language.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ndarray.hpp"

namespace Eigen {

template <class Derived>
class DenseBase;
template <class Derived>
class ArrayBase;
template <class Derived>
class PlainObjectBase;
template <class Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
class Matrix;
template <class Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
class Array;
template <class Plain, int Options, class Strides>
class Map;
template <int Outer, int Inner>
class Stride;

}  // namespace Eigen

namespace flowgraph {

namespace detail {

// Eigen's own, which its headers would say.
inline constexpr int eigen_dynamic = -1, eigen_columns = 0, eigen_rows = 1, eigen_direct_access = 64;
template <class Plain>
using eigen_map = Eigen::Map<Plain, 0, Eigen::Stride<0, 0>>;

template <class D>
concept eigen_data = std::derived_from<D, Eigen::DenseBase<D>> && element<typename D::Scalar>;

template <class D>
inline constexpr bool is_gapless_map = false;
template <class Plain, int Options>
inline constexpr bool is_gapless_map<Eigen::Map<Plain, Options, Eigen::Stride<0, 0>>> = true;

// Row by row without gaps, by its type alone.
template <class D>
concept eigen_row_major = eigen_data<D> && (std::derived_from<D, Eigen::PlainObjectBase<D>> ||
                                            is_gapless_map<D>)&&(bool(D::IsVectorAtCompileTime) || bool(D::IsRowMajor));

template <class D>
struct eigen_traits {
  using scalar = typename D::Scalar;
  static constexpr bool is_vector = bool(D::IsVectorAtCompileTime);
  static constexpr data_layout layout =
      is_vector ? data_layout{dtype_of<scalar>, true, 1, {D::SizeAtCompileTime}}
                : data_layout{dtype_of<scalar>, false, 2, {D::RowsAtCompileTime, D::ColsAtCompileTime}};
  static void dims(const D& m, std::int64_t* to) {
    to[0] = is_vector ? m.size() : m.rows();
    if constexpr (!is_vector) to[1] = m.cols();
  }
};

template <eigen_row_major D>
struct data_traits<D> : eigen_traits<D> {
  template <class M>
  static auto data(M& m) {
    return m.data();
  }
};

template <eigen_data D>
struct data_traits<D> : eigen_traits<D> {
  using typename eigen_traits<D>::scalar;
  using keep = aligned_buffer<scalar>;

  static const scalar* data(const D& m, keep& to) {
    constexpr bool in_memory = (D::Flags & eigen_direct_access) != 0;
    if constexpr (in_memory && (eigen_traits<D>::is_vector || bool(D::IsRowMajor)))
      if (m.innerStride() == 1 && (eigen_traits<D>::is_vector || m.rows() <= 1 || m.outerStride() == m.cols()))
        return m.data();
    return copy(m, to);
  }
  static const scalar* copy(const D& m, keep& to) {
    constexpr bool is_array = std::derived_from<D, Eigen::ArrayBase<D>>;
    constexpr int any = eigen_dynamic;
    using rows = std::conditional_t<is_array, Eigen::Array<scalar, any, any, eigen_rows, any, any>,
                                    Eigen::Matrix<scalar, any, any, eigen_rows, any, any>>;
    to = allocate_aligned<scalar>(static_cast<std::size_t>(m.size()));
    eigen_map<rows>(to.get(), m.rows(), m.cols()) = m;
    return to.get();
  }
};

// A matrix of Eigen's with the extents of an array; what is named is Dynamic. A vector is a column.
template <class T, auto... E>
struct eigen_of {
  static_assert(sizeof...(E) <= 2, "as_eigen: a matrix has two axes; reshape the array first");
  static_assert(std::is_arithmetic_v<T>, "as_eigen: Eigen computes with types of its own for half and bfloat16");
  static constexpr const shape_text& shape = array_extents<E...>::shape;
  static constexpr int rows = shape.rank > 0 ? static_cast<int>(shape.number[0]) : 1;
  static constexpr int cols = shape.rank > 1 ? static_cast<int>(shape.number[1]) : 1;
  using type = Eigen::Matrix<T, rows, cols, cols == 1 && rows != 1 ? eigen_columns : eigen_rows, rows, cols>;
};

}  // namespace detail

// The elements as a map of Eigen's, without a copy: a matrix, or a column for one axis.
template <class T, auto... E>
auto as_eigen(ndview<T, E...> view) {
  using plain = typename detail::eigen_of<std::remove_const_t<T>, E...>::type;
  const auto dim = [&](int axis) { return axis < view.rank ? view.dim(axis) : 1; };
  return detail::eigen_map<std::conditional_t<std::is_const_v<T>, const plain, plain>>(view.data(), dim(0), dim(1));
}
template <class T, auto... E>
auto as_eigen(ndarray<T, E...>& array) {
  return as_eigen(array.view());
}
template <class T, auto... E>
auto as_eigen(const ndarray<T, E...>& array) {
  return as_eigen(array.view());
}
template <class T, auto... E>
void as_eigen(const ndarray<T, E...>&&) = delete;  // the map would outlive the array

}  // namespace flowgraph
