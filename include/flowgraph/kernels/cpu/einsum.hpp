// Einstein's summation as it is defined: for every element of the result, the sum over the other letters of the
// product of the operands. What matters for speed is turned into matmul by einsum's simplify rule.
#pragma once
#include <cstdint>
#include <cstring>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/ops/einsum.hpp>
#include "reducers.hpp"

namespace flowgraph {

namespace detail {

// A loop over letters that moves one pointer offset for each operand and, last, one for the result.
class letter_loop {
 public:
  static constexpr int max_letters = 26;
  static constexpr int max_offsets = ops::einsum_equation::max_terms + 1;

  std::int64_t offset[max_offsets] = {};

  explicit letter_loop(int offsets) : offsets_(offsets) {}

  void push(std::int64_t extent, const std::int64_t* strides) {
    extent_[count_] = extent;
    for (int i = 0; i < offsets_; ++i) stride_[count_][i] = strides[i];
    ++count_;
  }
  bool empty() const {
    for (int k = 0; k < count_; ++k)
      if (extent_[k] == 0) return true;
    return false;
  }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int k = 0; k < count_; ++k) n *= extent_[k];
    return n;
  }
  // To combination i, counting the last letter first.
  void seek(std::int64_t i) {
    for (int k = count_ - 1; k >= 0; --k) {
      index_[k] = i % extent_[k];
      i /= extent_[k];
      for (int o = 0; o < offsets_; ++o) offset[o] += index_[k] * stride_[k][o];
    }
  }
  // False after the last combination; then all offsets are back at where they began.
  bool next() {
    for (int k = count_ - 1; k >= 0; --k) {
      for (int i = 0; i < offsets_; ++i) offset[i] += stride_[k][i];
      if (++index_[k] < extent_[k]) return true;
      for (int i = 0; i < offsets_; ++i) offset[i] -= stride_[k][i] * extent_[k];
      index_[k] = 0;
    }
    return false;
  }

 private:
  int offsets_;
  int count_ = 0;
  std::int64_t index_[max_letters] = {};
  std::int64_t extent_[max_letters] = {};
  std::int64_t stride_[max_letters][max_offsets] = {};
};

// How far the letter moves in an array whose axes the term names; a letter that stands twice moves along both.
inline std::int64_t letter_stride(const ops::einsum_term& t, const array_view& x, char letter) {
  std::int64_t sum = 0, stride = 1;
  for (int i = x.rank; i-- > 0; stride *= x.dim(i))
    if (t.letters[i] == letter) sum += stride;
  return sum;
}

}  // namespace detail

template <>
struct cpu_kernel<ops::einsum> {
  using types = number_types;
  static constexpr bool in_float = true;
  template <class T>
  static void run(const kernel_args& k) {
    const ops::einsum_equation e = ops::parse(k.attrs<ops::einsum_attrs>().text);
    const array_view& result = k.out[0];
    T* y = result.as<T>();
    detail::letter_loop kept(e.terms + 1), summed(e.terms + 1);
    for (char c = 'a'; c <= 'z'; ++c) {
      std::int64_t strides[detail::letter_loop::max_offsets], n = -1;
      for (int i = 0; i < e.terms; ++i) {
        strides[i] = detail::letter_stride(e.term[i], k.in[i], c);
        if (e.term[i].has(c)) n = k.in[i].dim(e.term[i].find(c));
      }
      strides[e.terms] = detail::letter_stride(e.result, result, c);
      if (n >= 0) (e.result.has(c) ? kept : summed).push(n, strides);
    }
    if (e.result.repeats() && result.size() > 0) std::memset(y, 0, static_cast<std::size_t>(result.size()) * sizeof(T));
    if (kept.empty()) return;
    using wide = detail::sum_type<T>;
    parallel_for(k, kept.size(), part_size(2 * e.terms * summed.size()), [&](std::int64_t first, std::int64_t last) {
      detail::letter_loop here = kept, inner = summed;
      here.seek(first);
      for (std::int64_t i = first; i < last; ++i, here.next()) {
        wide sum = 0;
        if (!inner.empty()) {
          do {
            wide product = 1;
            for (int t = 0; t < e.terms; ++t)
              product *= static_cast<wide>(k.in[t].as<const T>()[here.offset[t] + inner.offset[t]]);
            sum += product;
          } while (inner.next());
        }
        y[here.offset[e.terms]] = static_cast<T>(sum);
      }
    });
  }
};

using einsum_kernels = type_list<ops::einsum>;

}  // namespace flowgraph
