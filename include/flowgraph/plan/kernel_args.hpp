// What a kernel gets: pointers, extents as numbers, attributes. It allocates nothing and knows no graph. Apart from the
// kernels, because a user's function in a graph (ops/host_call.hpp) is called with the same.
#pragma once
#include <cstddef>
#include <cstdint>

#include <flowgraph/core/dtype.hpp>
#include <flowgraph/graph/inference.hpp>
#include "plan.hpp"

namespace flowgraph {

// One operand or result: contiguous, row-major.
struct array_view {
  void* data = nullptr;
  const std::int64_t* dims = nullptr;
  int rank = 0;
  dtype type = dtype::none;
  // Of what a step reads and does not change: counts how often others have changed it. Null: changes with every step.
  const std::uint64_t* version = nullptr;

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

// Threads that kernels spread their work over; kernels/parallel.hpp has the call for it.
class workers {
 public:
  using part_function = void (*)(const void* body, std::int64_t first, std::int64_t last);

  virtual ~workers() = default;
  virtual int threads() const = 0;
  // Calls part(body, first, last) for [0, grain), [grain, 2 grain), ... up to n, on several threads at once, and
  // returns when all are done. The first exception that a part throws is thrown again here.
  virtual void spread(std::int64_t n, std::int64_t grain, part_function part, const void* body) = 0;
};

// Why a step may end early: somebody asked for it, or its time is over.
class interruption {
 public:
  // Throws when the step is to end.
  virtual void check() const = 0;

 protected:
  ~interruption() = default;
};

// What outlives a kernel call: the step's random stream, who helps, who may interrupt.
struct kernel_context {
  std::uint64_t seed = 0;                   // of the session
  std::uint64_t step = 0;                   // counts the session's steps
  workers* helpers = nullptr;               // null: the calling thread alone
  const interruption* interrupt = nullptr;  // null: nobody, or the kernel must not be left halfway
  class value_stacks* stacks = nullptr;     // of the step
  std::uint64_t turn = 0;                   // another number in each turn of each loop; 0: outside
};

// The element-wise steps of an instruction, ready to run. They may be all that it does, or come before or after its op
// (plan.hpp: program).
class region_kernel {
 public:
  virtual ~region_kernel() = default;
  // Elements first to last - 1 of the region's value, row-major, written to `to` one behind the other. operands: of the
  // instruction, its results behind them. value: the shape and type. `to` may be where an operand of that shape has
  // the same elements.
  virtual void compute(const array_view* operands, const array_view& value, void* to, std::int64_t first,
                       std::int64_t last) const = 0;

  detail::slice<program_step> steps;  // what it does, for who can do it better
  const int* registers = nullptr;
};

struct kernel_args {
  const array_view* in = nullptr;  // what the op reads; behind it what its region does, then the results
  const array_view* out = nullptr;
  int n_in = 0;  // of the op
  int n_out = 0;
  const std::int64_t* words = nullptr;  // attributes
  int n_words = 0;
  std::uint64_t node = 0;  // the model's node id: with seed and step it names a random stream
  const kernel_context* context = nullptr;
  const region_kernel* region = nullptr;  // null: the op alone

  // A kernel of an op with trait::finishes calls this once for every part of its first result, when elements first to
  // last - 1 are written and still in the cache.
  void finish(std::int64_t first, std::int64_t last) const {
    if (region == nullptr) return;
    auto* to = static_cast<std::byte*>(out[0].data) + first * size_of(out[0].type);
    region->compute(in, out[0], to, first, last);
  }

  // The same for rows i to i + rows - 1 and columns j to j + columns - 1 of a result that is `width` elements wide.
  void finish(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns, std::int64_t width) const {
    if (region == nullptr) return;
    if (columns == width) return finish(i * width, (i + rows) * width);
    for (const std::int64_t end = i + rows; i < end; ++i) finish(i * width + j, i * width + j + columns);
  }

  template <class A>
  A attrs() const {
    return detail::attrs_from_words<A>(words);
  }
};

using kernel_function = void (*)(const kernel_args&);

}  // namespace flowgraph
