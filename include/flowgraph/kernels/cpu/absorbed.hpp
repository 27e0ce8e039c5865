// What a kernel reads that absorbs its operand: elements as they lie in memory, or computed just then, a tile at a
// time, by the region that the instruction has in the operand's place.
#pragma once
#include <algorithm>
#include <cstdint>

#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph::detail {

// Of one thread. How elements are cut depends on their number alone, and in a way that sums of the same elements in
// memory are cut, too.
template <class T>
class absorbed_operand {
 public:
  // index: of the operand. Elements below `ahead` are read one behind the other: they may be computed early.
  explicit absorbed_operand(const kernel_args& k, int index = 0, std::int64_t ahead = 0)
      : k_(k),
        operand_(k.in[index]),
        ahead_(ahead) {}

  // f(elements, count) for parts of [at, at + n).
  template <class F>
  void read(std::int64_t at, std::int64_t n, const F& f) {
    if (k_.region == nullptr) return f(operand_.template as<const T>() + at, n);
    for (const std::int64_t end = at + n; at < end; at += tile) {
      const std::int64_t count = std::min(tile, end - at);
      if (at < first_ || at + count > last_) {
        first_ = at;
        last_ = std::max(at + count, std::min(ahead_, at + tile));
        compute(first_, last_, elements_);
      }
      f(static_cast<const T*>(elements_ + (at - first_)), count);
    }
  }

  // f(rows, stride, count) for parts of `count` rows of n elements; n is at most half a tile.
  template <class F>
  void read_rows(std::int64_t at, std::int64_t stride, std::int64_t count, std::int64_t n, const F& f) {
    if (k_.region == nullptr) return f(operand_.template as<const T>() + at, stride, count);
    const std::int64_t most = capacity / std::max<std::int64_t>(n, 1) / 8 * 8;
    for (; count > 0; count -= most, at += most * stride) {
      const std::int64_t rows = std::min(most, count);
      if (stride == n)
        compute(at, at + rows * n, elements_);
      else
        for (std::int64_t i = 0; i < rows; ++i) compute(at + i * stride, at + i * stride + n, elements_ + i * n);
      f(static_cast<const T*>(elements_), n, rows);
    }
  }

 private:
  static constexpr std::int64_t tile = 1024, capacity = 2 * tile;

  void compute(std::int64_t first, std::int64_t last, T* to) { k_.region->compute(k_.in, operand_, to, first, last); }

  const kernel_args& k_;
  const array_view& operand_;
  std::int64_t ahead_;
  std::int64_t first_ = 0, last_ = 0;  // what elements_ holds
  alignas(64) T elements_[capacity];
};

}  // namespace flowgraph::detail
