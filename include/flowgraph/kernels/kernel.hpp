// What a kernel gets: pointers, extents as numbers, attributes. It allocates nothing and knows no graph.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/core/dtype.hpp>
#include <flowgraph/core/symbols.hpp>
#include <flowgraph/graph/inference.hpp>

namespace flowgraph {

// One operand or result: contiguous, row-major.
struct array_view {
  void* data = nullptr;
  const std::int64_t* dims = nullptr;
  int rank = 0;
  dtype type = dtype::none;

  std::int64_t dim(int i) const { return dims[i]; }
  // From the back: last(0) is the innermost extent.
  std::int64_t last(int i) const { return dims[rank - 1 - i]; }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// What outlives a kernel call: the step's random stream and the host functions that the session knows.
struct kernel_context {
  std::uint64_t seed = 0;  // of the session
  std::uint64_t step = 0;  // counts the session's steps
};

struct kernel_args {
  const array_view* in = nullptr;
  const array_view* out = nullptr;
  int n_in = 0;
  int n_out = 0;
  const std::int64_t* words = nullptr;  // attributes
  int n_words = 0;
  std::uint64_t node = 0;  // the model's node id: with seed and step it names a random stream
  const kernel_context* context = nullptr;

  template <class A>
  A attrs() const {
    return detail::attrs_from_words<A>(words);
  }
};

using kernel_function = void (*)(const kernel_args&);

template <class... T>
struct type_list {};

// Specialised once for each op that the CPU computes, in kernels/cpu/:
//   template <> struct cpu_kernel<ops::matmul> {
//     using types = type_list<float, double>;             // element types of the operand that decides
//     static constexpr int type_operand = 0;              // optional: which input decides; -1: the result
//     template <class T> static void run(const kernel_args& k);
//   };
// Without inputs the result decides. Element-wise ops need none: their scalar function is their kernel.
template <class Op>
struct cpu_kernel;

using floating_types = type_list<float, double>;
using number_types = type_list<float, double, std::int32_t, std::int64_t>;
using summable_types = type_list<float, double, half, bfloat16, std::int8_t, std::uint8_t, std::int32_t, std::int64_t>;
using all_types = type_list<bool, std::int8_t, std::uint8_t, std::int32_t, std::int64_t, half, bfloat16, float, double>;

}  // namespace flowgraph
