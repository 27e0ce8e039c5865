// fg::ndarray: numbers with a shape, as they go into a step and come out of it. Owning, contiguous, row-major;
// extents that are numbers live in the type, named ones get their number when the array is made.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <span>
#include <utility>

#include "ndview.hpp"

namespace flowgraph {

namespace detail {

// What all buffers are aligned to: a cache line, and the widest vector register.
inline constexpr std::size_t buffer_alignment = 64;

// Memory of elements, with one owner.
template <class T>
class aligned_buffer {
 public:
  aligned_buffer() = default;
  aligned_buffer(std::nullptr_t) {}
  explicit aligned_buffer(T* made) : made_(made) {}
  aligned_buffer(aligned_buffer&& o) noexcept : made_(o.release()) {}
  aligned_buffer& operator=(aligned_buffer o) noexcept {
    T* const mine = made_;
    made_ = o.made_;
    o.made_ = mine;
    return *this;
  }
  ~aligned_buffer() {
    if (made_ != nullptr) ::operator delete(made_, std::align_val_t{buffer_alignment});
  }

  T* get() const { return made_; }
  T& operator[](std::size_t i) const { return made_[i]; }
  explicit operator bool() const { return made_ != nullptr; }
  bool operator==(std::nullptr_t) const { return made_ == nullptr; }
  T* release() {
    T* const made = made_;
    made_ = nullptr;
    return made;
  }

 private:
  T* made_ = nullptr;
};

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

}  // namespace detail

template <class T, auto... Extents>
class ndarray : public detail::array_extents<Extents...> {
  using base = detail::array_extents<Extents...>;
  static_assert(element<T>, "an element type is float, double, half, bfloat16, int8, uint8, int32, int64 or bool");
  static constexpr dtype type = detail::dtype_of<T>;

 public:
  using element_type = T;
  using value_type = T;
  using base::rank;
  using typename base::dims_type;

  // Zeros. Named extents are 0.
  ndarray() : ndarray(base::static_dims()) {}

  // Zeros of these extents: ndarray<float, batch, 64> a(batch(32)).
  template <std::same_as<binding>... B>
    requires(sizeof...(B) > 0)
  explicit ndarray(B... bindings) : ndarray(base::bound_dims(type, {bindings...})) {}
  explicit ndarray(const dims_type& dims) : ndarray(dims, uninitialised{}) { std::fill_n(data(), this->size_, T{}); }

  // A copy of any data that can be fed: views, std::vector, std::span, C arrays, Eigen's types. Of a flat run of values
  // one named extent at most follows from how many there are.
  template <feedable D>
    requires(rank > 0 || !std::convertible_to<D, T>)
  explicit ndarray(const D& data) : ndarray(detail::lent<D>(data)) {}
  // Row by row.
  ndarray(const dims_type& dims, std::span<const T> values) : ndarray(dims, uninitialised{}) {
    if (static_cast<std::int64_t>(values.size()) != this->size_)
      detail::refuse_array(type, base::shape, std::to_string(values.size()) + " values");
    std::copy(values.begin(), values.end(), data());
  }

  // Elements as write(first element) leaves them.
  template <std::invocable<T*> Write>
  ndarray(const dims_type& dims, const Write& write) : ndarray(dims, uninitialised{}) {
    write(data());
  }

  // Takes over memory for at least as many elements as these extents have.
  ndarray(const dims_type& dims, detail::aligned_buffer<T> memory) : base(type, dims), data_(std::move(memory)) {}

  // {{1, 2}, {3, 4}}
  ndarray(typename detail::nested_list<T, rank>::type list)
    requires(rank > 0)
      : ndarray(list_dims(list), uninitialised{}) {
    T* to = data();
    flatten<rank>(list, this->dims_.data(), to);
  }
  ndarray(T value)
    requires(rank == 0)
      : ndarray(dims_type{}, uninitialised{}) {
    *data() = value;
  }

  ndarray(const ndarray& other) : ndarray(other.dims_, uninitialised{}) {
    std::copy_n(other.data(), this->size_, data());
  }
  ndarray(ndarray&& other) noexcept : data_(std::move(other.data_)) {
    this->dims_ = std::exchange(other.dims_, dims_type{});
    this->size_ = std::exchange(other.size_, 0);
  }
  ndarray& operator=(ndarray other) noexcept {
    std::swap(this->dims_, other.dims_);
    std::swap(this->size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }

  // What leads to the elements lasts as long as the array stays where it is; of a temporary array elements and rows are
  // copies, and all that would be left without an array is a mistake.
  T* data() & { return data_.get(); }
  const T* data() const& { return data_.get(); }
  template <class Array = ndarray>
  const T* data() const&& {
    detail::mistake<problem::array_ends, Array>();
    return static_cast<const T*>(data_.get());
  }

  template <std::integral... I>
    requires(sizeof...(I) == sizeof...(Extents))
  T& operator()(I... index) & {
    return data()[this->offset(index...)];
  }
  template <std::integral... I>
    requires(sizeof...(I) == sizeof...(Extents))
  const T& operator()(I... index) const& {
    return data()[this->offset(index...)];
  }
  template <std::integral... I>
    requires(sizeof...(I) == sizeof...(Extents))
  T operator()(I... index) const&& {
    return data_[static_cast<std::size_t>(this->offset(index...))];
  }
  // The first axis at i: an element, or a view of what lies there.
  decltype(auto) operator[](std::int64_t i) &
        requires(rank > 0)
  {
    return view()[i];
  }
  decltype(auto) operator[](std::int64_t i) const&
    requires(rank > 0)
  {
    return view()[i];
  }
  auto operator[](std::int64_t i) const&&
    requires(rank > 0)
  {
    return row_of<Extents...>(i);
  }

  ndview<T, Extents...> view() & { return {data(), this->dims_}; }
  ndview<const T, Extents...> view() const& { return {data(), this->dims_}; }
  template <class Array = ndarray>
  ndview<const T, Extents...> view() const&& {
    detail::mistake<problem::array_ends, Array>();
    return ndview<const T, Extents...>(data_.get(), this->dims_);
  }
  // The same elements with other extents: ndview.hpp says how names get their numbers. A temporary array gives its
  // elements away.
  template <auto... New, std::same_as<binding>... B>
  auto reshape(B... bindings) & {
    return view().template reshape<New...>(bindings...);
  }
  template <auto... New, std::same_as<binding>... B>
  auto reshape(B... bindings) const& {
    return view().template reshape<New...>(bindings...);
  }
  template <auto... New, std::same_as<binding>... B>
  auto reshape(B... bindings) && {
    const auto dims = this->template reshaped<New...>(type, {bindings...});
    return ndarray<T, New...>(dims, std::move(data_));
  }

  // All elements, row by row.
  std::span<T> span() & { return view().span(); }
  std::span<const T> span() const& { return view().span(); }
  template <class Array = ndarray>
  std::span<const T> span() const&& {
    detail::mistake<problem::array_ends, Array>();
    return std::span<const T>();
  }
  T* begin() & { return data(); }
  T* end() & { return data() + this->size_; }
  const T* begin() const& { return data(); }
  const T* end() const& { return data() + this->size_; }
  template <class Array = ndarray>
  const T* begin() const&& {
    detail::mistake<problem::array_ends, Array>();
    return static_cast<const T*>(data_.get());
  }
  template <class Array = ndarray>
  const T* end() const&& {
    detail::mistake<problem::array_ends, Array>();
    return static_cast<const T*>(data_.get());
  }

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

  template <auto First, auto... Rest>
  auto row_of(std::int64_t i) const {
    if constexpr (sizeof...(Rest) == 0)
      return T(view()[i]);
    else
      return ndarray<T, Rest...>(view()[i]);
  }

  ndarray(const dims_type& dims, uninitialised)
      : base(type, dims),
        data_(detail::allocate_aligned<T>(static_cast<std::size_t>(this->size_))) {}

  template <class D>
  explicit ndarray(const detail::lent<D>& lent)
      : ndarray((detail::check_array_data<ndarray, D>(), base::dims_of(lent.data)), uninitialised{}) {
    std::copy_n(static_cast<const T*>(lent.data.data), this->size_, data());
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
      if (static_cast<std::int64_t>(list.size()) != *dims)
        detail::refuse_array(type, base::shape, "rows of different lengths");
      for (const auto& inner : list) flatten<Depth - 1>(inner, dims + 1, to);
    }
  }

  detail::aligned_buffer<T> data_;
};

namespace detail {

template <class T, auto... E>
struct data_traits<ndarray<T, E...>> : shaped_traits<ndarray<T, E...>> {};

}  // namespace detail
}  // namespace flowgraph
