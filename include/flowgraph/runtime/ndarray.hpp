// fg::ndarray: numbers with a shape, as they go into a step and come out of it. Owning, contiguous, row-major;
// extents that are numbers live in the type, named ones get their number when the array is made.
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include <flowgraph/core/error.hpp>
#include <flowgraph/dsl/tensor.hpp>

namespace flowgraph {

namespace detail {

// What all buffers are aligned to: a cache line, and the widest vector register.
inline constexpr std::size_t buffer_alignment = 64;

struct free_aligned {
  void operator()(void* p) const noexcept { ::operator delete(p, std::align_val_t{buffer_alignment}); }
};

template <class T>
using aligned_buffer = std::unique_ptr<T[], free_aligned>;

// Not initialised.
template <class T>
aligned_buffer<T> allocate_aligned(std::size_t count) {
  return aligned_buffer<T>(
      static_cast<T*>(::operator new(std::max<std::size_t>(count, 1) * sizeof(T), std::align_val_t{buffer_alignment})));
}

// {1, 2}, {{1, 2}, {3, 4}}, ...: as many braces as axes.
template <class T, int Rank>
struct nested_list {
  using type = std::initializer_list<typename nested_list<T, Rank - 1>::type>;
};
template <class T>
struct nested_list<T, 0> {
  using type = T;
};

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

}  // namespace detail

template <class T, auto... Extents>
class ndarray {
 public:
  static_assert(element<T>, "an element type is float, double, half, bfloat16, int8, uint8, int32, int64 or bool");
  static_assert(sizeof...(Extents) <= max_rank, "an array has at most 8 axes");

  using element_type = T;
  using value_type = T;
  static constexpr int rank = static_cast<int>(sizeof...(Extents));
  static constexpr const detail::shape_text& shape = detail::shape_text_of<detail::canonical<Extents>()...>;
  static constexpr bool is_static = (std::integral<decltype(Extents)> && ...);
  using dims_type = std::array<std::int64_t, sizeof...(Extents)>;

  // Zeros. Named extents are 0.
  ndarray() : ndarray(static_dims()) {}

  // Zeros of these extents: ndarray<float, batch, 64> a(batch(32)).
  template <std::same_as<binding>... B>
    requires(sizeof...(B) > 0)
  explicit ndarray(B... bindings) : ndarray(bound_dims({bindings...})) {}
  explicit ndarray(const dims_type& dims) : ndarray(dims, uninitialised{}) { std::fill_n(data(), size_, T{}); }

  // Row by row, from a flat run of values; of the named extents one at most follows from how many there are.
  explicit ndarray(std::span<const T> values) : ndarray(dims_for(static_cast<std::int64_t>(values.size())), values) {}
  ndarray(const dims_type& dims, std::span<const T> values) : ndarray(dims, uninitialised{}) {
    if (static_cast<std::int64_t>(values.size()) != size_) refuse(std::to_string(values.size()) + " values");
    std::copy(values.begin(), values.end(), data());
  }

  // {{1, 2}, {3, 4}}
  ndarray(typename detail::nested_list<T, rank>::type list)
    requires(rank > 0)
      : ndarray(list_dims(list), uninitialised{}) {
    T* to = data();
    flatten<rank>(list, dims_.data(), to);
  }
  ndarray(T value)
    requires(rank == 0)
      : ndarray(dims_type{}, uninitialised{}) {
    *data() = value;
  }

  ndarray(const ndarray& other) : ndarray(other.dims_, uninitialised{}) { std::copy_n(other.data(), size_, data()); }
  ndarray(ndarray&& other) noexcept
      : dims_(std::exchange(other.dims_, dims_type{})),
        size_(std::exchange(other.size_, 0)),
        data_(std::move(other.data_)) {}
  ndarray& operator=(ndarray other) noexcept {
    std::swap(dims_, other.dims_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  const dims_type& dims() const { return dims_; }
  std::int64_t dim(int axis) const { return dims_[static_cast<std::size_t>(axis)]; }

  template <std::integral... I>
    requires(sizeof...(I) == sizeof...(Extents))
  T& operator()(I... index) {
    return data_[offset({static_cast<std::int64_t>(index)...})];
  }
  template <std::integral... I>
    requires(sizeof...(I) == sizeof...(Extents))
  const T& operator()(I... index) const {
    return data_[offset({static_cast<std::int64_t>(index)...})];
  }

  // All elements, row by row.
  std::span<T> span() { return {data(), static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data(), static_cast<std::size_t>(size_)}; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

  operator T() const
    requires(rank == 0)
  {
    return *data();
  }

  friend bool operator==(const ndarray& a, const ndarray& b)
    requires(rank > 0)
  {
    return a.dims_ == b.dims_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  struct uninitialised {};

  ndarray(const dims_type& dims, uninitialised) : dims_(dims) {
    for (int i = 0; i < rank; ++i) {
      if (dim(i) < 0 || (shape.number[i] >= 0 && dim(i) != shape.number[i]))
        refuse(detail::shape_to_text(detail::dtype_of<T>, shape, dims.data()));
      size_ *= dim(i);
    }
    data_ = detail::allocate_aligned<T>(static_cast<std::size_t>(size_));
  }

  [[noreturn]] static void refuse(const std::string& given) {
    throw argument_error(problem::feed_extents,
                         "ndarray: expected " + detail::shape_to_text(detail::dtype_of<T>, shape) + ", got " + given);
  }

  static dims_type static_dims() {
    dims_type d{};
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::max<std::int64_t>(shape.number[i], 0);
    return d;
  }
  static dims_type bound_dims(std::initializer_list<binding> bindings) {
    dims_type d{};
    const auto lookup = [&](std::string_view name) -> std::int64_t {
      for (const binding& b : bindings)
        if (b.name == name) return b.value;
      return -1;
    };
    for (int i = 0; i < rank; ++i) {
      const std::int64_t n = shape.number[i] >= 0 ? shape.number[i] : detail::evaluate_extent(shape.name(i), lookup);
      if (n < 0) refuse("no number for \"" + std::string(shape.name(i)) + "\"");
      d[static_cast<std::size_t>(i)] = n;
    }
    return d;
  }
  static dims_type dims_for(std::int64_t count) {
    dims_type d{};
    std::int64_t known = 1;
    int unknown = -1;
    for (int i = 0; i < rank; ++i) {
      if (shape.number[i] >= 0) {
        d[static_cast<std::size_t>(i)] = shape.number[i];
        known *= shape.number[i];
      } else if (unknown < 0) {
        unknown = i;
      } else {
        refuse(std::to_string(count) + " values; two extents are named: state the extents");
      }
    }
    if (unknown >= 0) {
      if (known == 0 || count % known != 0) refuse(std::to_string(count) + " values");
      d[static_cast<std::size_t>(unknown)] = count / known;
    }
    return d;
  }

  // The first list at every depth says the extents; flatten finds the ones that differ.
  static dims_type list_dims(const typename detail::nested_list<T, rank>::type& list) {
    dims_type d{};
    measure<rank>(list, d.data());
    return d;
  }
  template <int Depth>
  static void measure(const typename detail::nested_list<T, Depth>::type& list, std::int64_t* dims) {
    if constexpr (Depth > 0) {
      *dims = static_cast<std::int64_t>(list.size());
      if (list.size() > 0) measure<Depth - 1>(*list.begin(), dims + 1);
    }
  }
  template <int Depth>
  static void flatten(const typename detail::nested_list<T, Depth>::type& list, const std::int64_t* dims, T*& to) {
    if constexpr (Depth == 0) {
      *to++ = list;
    } else {
      if (static_cast<std::int64_t>(list.size()) != *dims) refuse("rows of different lengths");
      for (const auto& inner : list) flatten<Depth - 1>(inner, dims + 1, to);
    }
  }

  std::size_t offset(const std::array<std::int64_t, sizeof...(Extents)>& index) const {
    std::int64_t at = 0;
    for (int i = 0; i < rank; ++i) {
      const std::int64_t k = index[static_cast<std::size_t>(i)];
      assert(k >= 0 && k < dim(i) && "ndarray: the index is out of range");
      at = at * dim(i) + k;
    }
    return static_cast<std::size_t>(at);
  }

  dims_type dims_{};
  std::int64_t size_ = 1;
  detail::aligned_buffer<T> data_;
};

}  // namespace flowgraph
