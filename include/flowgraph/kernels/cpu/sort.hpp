// Sorting, the greatest few, positions of extremes, running sums.
#pragma once
#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/sort.hpp>
#include "element.hpp"
#include "strided_copy.hpp"

namespace flowgraph {

namespace detail {

// NaN after every number, so that the order is total.
template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);
}
template <class T>
bool after(T a, T b) {
  return a > b || (b != b && a == a);
}

// Every n-th element of an array, for the standard algorithms.
template <class T>
class strided_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  strided_iterator() = default;
  strided_iterator(T* p, std::ptrdiff_t stride) : p_(p), stride_(stride) {}

  reference operator*() const { return *p_; }
  reference operator[](difference_type n) const { return p_[n * stride_]; }
  strided_iterator& operator+=(difference_type n) {
    p_ += n * stride_;
    return *this;
  }
  strided_iterator& operator-=(difference_type n) { return *this += -n; }
  strided_iterator& operator++() { return *this += 1; }
  strided_iterator& operator--() { return *this += -1; }
  strided_iterator operator++(int) {
    strided_iterator old = *this;
    ++*this;
    return old;
  }
  strided_iterator operator--(int) {
    strided_iterator old = *this;
    --*this;
    return old;
  }
  friend strided_iterator operator+(strided_iterator i, difference_type n) { return i += n; }
  friend strided_iterator operator+(difference_type n, strided_iterator i) { return i += n; }
  friend strided_iterator operator-(strided_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const strided_iterator& a, const strided_iterator& b) {
    return (a.p_ - b.p_) / a.stride_;
  }
  friend bool operator==(const strided_iterator& a, const strided_iterator& b) { return a.p_ == b.p_; }
  friend auto operator<=>(const strided_iterator& a, const strided_iterator& b) { return a.p_ <=> b.p_; }

 private:
  T* p_ = nullptr;
  std::ptrdiff_t stride_ = 1;
};

// f(o, first, last) for columns first to last - 1 of matrix o, where [outer, extent, inner] is `outer` matrices.
// Columns have nothing to do with each other: those that make a part lie together.
template <class F>
void for_each_columns(const kernel_args& k, const around_axis& a, const F& f) {
  const std::int64_t width = std::max<std::int64_t>(1, std::min(a.inner, part_size(a.extent, 16)));
  const std::int64_t blocks = (a.inner + width - 1) / width;
  parallel_for(k, a.outer * blocks, part_size(a.extent * width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % blocks * width;
      f(i / blocks, first, std::min(a.inner, first + width));
    }
  });
}

// Positions along the axis of the first element that none comes before.
template <class T, class Better>
void arg_extreme(const kernel_args& k, std::int64_t axis, const Better& better) {
  const around_axis a(k.in[0], axis);
  for_each_columns(k, a, [&](std::int64_t o, std::int64_t first, std::int64_t last) {
    const T* x = k.in[0].as<const T>() + o * a.extent * a.inner;
    std::int64_t* y = k.out[0].as<std::int64_t>() + o * a.inner;
    std::fill(y + first, y + last, 0);
    for (std::int64_t i = 1; i < a.extent; ++i)
      for (std::int64_t c = first; c < last; ++c)
        if (better(x[i * a.inner + c], x[y[c] * a.inner + c])) y[c] = i;
  });
}

}  // namespace detail

template <>
struct cpu_kernel<ops::argsort> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const auto attributes = k.attrs<ops::argsort::attrs>();
    const detail::around_axis a(k.in[0], attributes.axis);
    if (a.extent == 0) return;
    parallel_for(k, a.outer * a.inner, part_size(16 * a.extent), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t line = first; line < last; ++line) {
        const std::int64_t at = line / a.inner * a.extent * a.inner + line % a.inner;
        const detail::strided_iterator<std::int64_t> y(k.out[0].as<std::int64_t>() + at, a.inner);
        if (attributes.descending)
          sort_line(k.in[0].as<const T>() + at, y, a, detail::after<T>);
        else
          sort_line(k.in[0].as<const T>() + at, y, a, detail::before<T>);
      }
    });
  }

 private:
  // Equal elements by position: stable without the buffer of std::stable_sort.
  template <class T, class Precedes>
  static void sort_line(const T* x, detail::strided_iterator<std::int64_t> y, const detail::around_axis& a,
                        const Precedes& precedes) {
    for (std::int64_t i = 0; i < a.extent; ++i) y[i] = i;
    std::sort(y, y + a.extent, [&](std::int64_t i, std::int64_t j) {
      const T p = x[i * a.inner], q = x[j * a.inner];
      return precedes(p, q) || (!precedes(q, p) && i < j);
    });
  }
};

template <>
struct cpu_kernel<ops::top_k> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t n = k.in[0].last(0), count = k.out[0].last(0);
    const std::int64_t rows = k.out[0].size() / count;
    parallel_for(k, rows, part_size(4 * n), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t r = first; r < last; ++r) {
        const T* x = k.in[0].as<const T>() + r * n;
        std::int64_t* best = k.out[1].as<std::int64_t>() + r * count;
        find_greatest(x, n, best, count);
        for (std::int64_t i = 0; i < count; ++i) k.out[0].as<T>()[r * count + i] = x[best[i]];
      }
    });
  }

 private:
  // With a heap of the best so far, the least of them on top.
  template <class T>
  static void find_greatest(const T* x, std::int64_t n, std::int64_t* best, std::int64_t count) {
    const auto ahead = [x](std::int64_t i, std::int64_t j) {
      return detail::after(x[i], x[j]) || (!detail::after(x[j], x[i]) && i < j);
    };
    for (std::int64_t i = 0; i < n; ++i) {
      if (i < count) {
        best[i] = i;
        std::push_heap(best, best + i + 1, ahead);
      } else if (ahead(i, best[0])) {
        std::pop_heap(best, best + count, ahead);
        best[count - 1] = i;
        std::push_heap(best, best + count, ahead);
      }
    }
    std::sort_heap(best, best + count, ahead);
  }
};

template <>
struct cpu_kernel<ops::argmax> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::arg_extreme<T>(k, k.attrs<ops::argmax::attrs>().axis, [](T a, T b) { return a > b || (a != a && b == b); });
  }
};

template <>
struct cpu_kernel<ops::argmin> {
  using types = all_types;
  template <class T>
  static void run(const kernel_args& k) {
    detail::arg_extreme<T>(k, k.attrs<ops::argmin::attrs>().axis, [](T a, T b) { return a < b || (a != a && b == b); });
  }
};

template <>
struct cpu_kernel<ops::cumsum> {
  using types = number_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const auto attributes = k.attrs<ops::cumsum::attrs>();
    const detail::around_axis a(k.in[0], attributes.axis);
    if (a.extent == 0) return;
    const std::int64_t step = attributes.reverse ? -a.inner : a.inner;
    const std::int64_t first = attributes.reverse ? (a.extent - 1) * a.inner : 0;
    detail::for_each_columns(k, a, [&](std::int64_t o, std::int64_t begin, std::int64_t end) {
      const T* x = k.in[0].as<const T>() + o * a.extent * a.inner + first;
      T* y = k.out[0].as<T>() + o * a.extent * a.inner + first;
      for (std::int64_t c = begin; c < end; ++c) y[c] = attributes.exclusive ? T{} : x[c];
      for (std::int64_t i = 1; i < a.extent; ++i) {
        const T* add = attributes.exclusive ? x : x + step;
        for (std::int64_t c = begin; c < end; ++c) y[step + c] = detail::plus(y[c], add[c]);
        x += step;
        y += step;
      }
    });
  }
};

using sort_kernels = type_list<ops::argsort, ops::top_k, ops::argmax, ops::argmin, ops::cumsum>;

}  // namespace flowgraph
