// Arrays that own nothing: fg::ndview is memory of somebody else with a shape, its extents in its type as an
// fg::ndarray has them. The extents themselves, shared by both, stand here too.
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <flowgraph/core/error.hpp>
#include "borrow.hpp"

namespace flowgraph {

namespace detail {

// "float[batch, 64]"; a named extent with a number is shown by its number.
inline std::string shape_to_text(dtype type, const shape_text& shape, const std::int64_t* numbers = nullptr) {
  std::string s(name_of(type));
  s += '[';
  for (int i = 0; i < shape.rank; ++i) {
    if (i > 0) s += ", ";
    if (numbers != nullptr)
      s += std::to_string(numbers[i]);
    else if (shape.number[i] >= 0)
      s += std::to_string(shape.number[i]);
    else
      s += shape.name(i);
  }
  return s + ']';
}

[[noreturn]] inline void refuse_array(dtype type, const shape_text& shape, const std::string& given) {
  throw argument_error(problem::array_data, "array: expected " + shape_to_text(type, shape) + ", got " + given);
}

// More than any array has, and its bytes can still be counted.
inline constexpr std::int64_t most_elements = std::numeric_limits<std::int64_t>::max() / 16;

constexpr std::int64_t count_elements(std::int64_t count, std::int64_t extent) {
  return extent > 0 && count > most_elements / extent ? most_elements : count * extent;
}

// The extents that a shape has where `lookup` gives names their numbers, or -1; one extent at most follows from the
// number of elements. count -1: not known either.
template <class Lookup>
void solve_dims(dtype type, const shape_text& shape, std::int64_t count, const Lookup& lookup, std::int64_t* dims) {
  const auto given = [&] { return std::to_string(count) + " values"; };
  std::int64_t known = 1;
  int unknown = -1;
  for (int i = 0; i < shape.rank; ++i) {
    dims[i] = shape.number[i] >= 0 ? shape.number[i] : evaluate_extent(shape.name(i), lookup);
    if (dims[i] >= 0) {
      known = count_elements(known, dims[i]);
    } else if (count < 0) {
      refuse_array(type, shape, "no number for \"" + std::string(shape.name(i)) + "\"");
    } else if (unknown >= 0) {
      refuse_array(type, shape, given() + "; two extents are named: state the extents");
    } else {
      unknown = i;
    }
  }
  if (unknown >= 0) {
    if (known == 0 || count % known != 0) refuse_array(type, shape, given());
    dims[unknown] = count / known;
  } else if (count >= 0 && known != count) {
    refuse_array(type, shape, given());
  }
}

template <auto... Extents>
class array_extents {
 public:
  static_assert(sizeof...(Extents) <= max_rank, "an array has at most 8 axes");

  static constexpr int rank = static_cast<int>(sizeof...(Extents));
  static constexpr const shape_text& shape = shape_text_of<canonical<Extents>()...>;
  static constexpr bool is_static = (std::integral<decltype(Extents)> && ...);
  using dims_type = std::array<std::int64_t, sizeof...(Extents)>;

  std::int64_t size() const { return size_; }
  const dims_type& dims() const& { return dims_; }
  dims_type dims() const&& { return dims_; }
  std::int64_t dim(int axis) const { return dims_[static_cast<std::size_t>(axis)]; }

 protected:
  array_extents() : size_(0) {}
  array_extents(dtype type, const dims_type& dims) : dims_(dims) {
    bool fit = true;
    for (int i = 0; i < rank && fit; ++i) {
      fit = dim(i) >= 0 && (shape.number[i] < 0 || dim(i) == shape.number[i]);
      size_ = count_elements(size_, dim(i));
    }
    if (!fit || size_ == most_elements) refuse_array(type, shape, shape_to_text(type, shape, dims.data()));
  }

  static dims_type static_dims() {
    dims_type d{};
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::max<std::int64_t>(shape.number[i], 0);
    return d;
  }
  static dims_type bound_dims(dtype type, std::initializer_list<binding> bindings) {
    dims_type d{};
    const auto lookup = [&](std::string_view name) { return number_of(name, bindings); };
    solve_dims(type, shape, -1, lookup, d.data());
    return d;
  }
  static dims_type dims_of(const borrowed& b) {
    dims_type d{};
    if (b.flat) {
      solve_dims(
          b.type, shape, b.count, [](std::string_view) { return std::int64_t{-1}; }, d.data());
    } else {
      std::copy_n(b.dims, rank, d.begin());
    }
    return d;
  }
  // Of a reshaped array: names keep their numbers.
  template <auto... New>
  typename array_extents<New...>::dims_type reshaped(dtype type, std::initializer_list<binding> bindings) const {
    typename array_extents<New...>::dims_type d{};
    const auto lookup = [&](std::string_view name) {
      for (int i = 0; i < rank; ++i)
        if (shape.number[i] < 0 && shape.name(i) == name) return dim(i);
      return number_of(name, bindings);
    };
    solve_dims(type, array_extents<New...>::shape, size_, lookup, d.data());
    return d;
  }
  static std::int64_t number_of(std::string_view name, std::initializer_list<binding> bindings) {
    for (const binding& b : bindings)
      if (b.name == name) return b.value;
    return -1;
  }

  template <class... I>
  std::int64_t offset(I... index) const {
    std::int64_t at = 0;
    int axis = 0;
    [[maybe_unused]] const auto step = [&](std::int64_t k) {
      assert(k >= 0 && k < dim(axis) && "the index is out of range");
      at = at * dim(axis++) + k;
    };
    (step(static_cast<std::int64_t>(index)), ...);
    return at;
  }

  dims_type dims_{};
  std::int64_t size_ = 1;
};

// What the types of data and of an array with these extents say already.
template <class Array, class D>
constexpr void check_array_data() {
  constexpr bool fit = fits(data_layout_of<D>(), dtype_of<std::remove_const_t<typename Array::element_type>>,
                            Array::shape) == feed_fit::ok;
  if constexpr (!fit) mistake<problem::array_data, D, required<Array>>();
}

}  // namespace detail

template <class T, auto... Extents>
class ndview : public detail::array_extents<Extents...> {
  using base = detail::array_extents<Extents...>;
  static_assert(element<std::remove_const_t<T>>,
                "an element type is float, double, half, bfloat16, int8, uint8, int32, int64 or bool");
  static constexpr dtype type = detail::dtype_of<std::remove_const_t<T>>;

 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  using base::rank;
  using typename base::dims_type;

  // ndview<float, batch, 64> v(pointer, batch(32)). The memory must outlive the view.
  template <std::same_as<binding>... B>
  explicit(sizeof...(B) == 0) ndview(T* data, B... bindings)
      : base(type, base::bound_dims(type, {bindings...})),
        data_(data) {}
  ndview(T* data, const dims_type& dims) : base(type, dims), data_(data) {}

  // Data that lies row by row in memory: arrays, views, std::vector, std::span, C arrays, Eigen's row-major types. Of a
  // flat run of values one named extent at most follows from how many there are.
  template <feedable D>
    requires(!detail::copied_data<D> && !std::same_as<D, ndview> &&
             requires(D& d) {
               { detail::data_traits<std::remove_const_t<D>>::data(d) } -> std::convertible_to<T*>;
             })
  ndview(D& data) : ndview(data, detail::lent<std::remove_const_t<D>>(data).data) {}

  T* data() const { return data_; }
  std::span<T> span() const { return {data_, static_cast<std::size_t>(this->size_)}; }
  T* begin() const { return data_; }
  T* end() const { return data_ + this->size_; }

  template <std::integral... I>
    requires(sizeof...(I) == sizeof...(Extents))
  T& operator()(I... index) const {
    return data_[this->offset(index...)];
  }
  // The first axis at i: an element, or a view of what lies there.
  decltype(auto) operator[](std::int64_t i) const
    requires(rank > 0)
  {
    return first_axis<Extents...>(i);
  }
  // The same elements with other extents: v.reshape<2, 32>(). Names keep their numbers, others are bound as batch(32),
  // and one at most follows from how many elements there are.
  template <auto... New, std::same_as<binding>... B>
  ndview<T, New...> reshape(B... bindings) const {
    return {data_, this->template reshaped<New...>(type, {bindings...})};
  }

 private:
  template <auto First, auto... Rest>
  decltype(auto) first_axis(std::int64_t i) const {
    assert(i >= 0 && i < this->dim(0) && "the index is out of range");
    if constexpr (sizeof...(Rest) == 0) {
      return (data_[i]);
    } else {
      typename ndview<T, Rest...>::dims_type dims;
      std::copy_n(this->dims_.begin() + 1, dims.size(), dims.begin());
      return ndview<T, Rest...>(data_ + i * (this->size_ / this->dim(0)), dims);
    }
  }
  template <class D>
  ndview(D& data, const detail::borrowed& lent)
      : base((detail::check_array_data<ndview, std::remove_const_t<D>>(), type), base::dims_of(lent)),
        data_(detail::data_traits<std::remove_const_t<D>>::data(data)) {}

  T* data_ = nullptr;
};

namespace detail {

template <class Array>
struct shaped_traits {
  static constexpr data_layout layout = [] {
    data_layout l{dtype_of<typename Array::value_type>, false, Array::rank, {}};
    for (int i = 0; i < l.rank; ++i) l.extent[i] = Array::shape.number[i];
    return l;
  }();
  template <class A>
  static auto data(A& a) {
    return a.data();
  }
  static void dims(const Array& a, std::int64_t* to) { std::copy(a.dims().begin(), a.dims().end(), to); }
};
template <class T, auto... E>
struct data_traits<ndview<T, E...>> : shaped_traits<ndview<T, E...>> {};

}  // namespace detail
}  // namespace flowgraph
