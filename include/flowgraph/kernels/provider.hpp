// Where kernels come from beside the library's own: another library that computes some ops faster. It is asked once for
// each instruction, when the extents of a step are known, and may keep what it prepares (primitives, reordered weights,
// scratch memory) from step to step.
#pragma once
#include <memory>
#include <string_view>

#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph {

class prepared_kernel {
 public:
  virtual ~prepared_kernel() = default;
  // The same types, extents and attributes as when it was prepared; addresses may differ.
  virtual void run(const kernel_args& k) = 0;
  // Does it compute k.region as well, which comes after the op? Otherwise the executor does, when it is done.
  virtual bool finishes() const { return false; }
};

struct kernel_provider {
  std::string_view name;
  // k.region: element-wise steps that come after the op, for a kernel that can take some of them over; null: none.
  // Null: not this op with these types, attributes and extents; the library's own kernel runs. Data pointers are not to
  // be read yet.
  std::unique_ptr<prepared_kernel> (*prepare)(const op_def& op, const kernel_args& k, int threads);
  bool first = false;  // asked before the library's own kernels for operands that stay the same
};

// The ones that a program was built with; null: none.
struct provider_choice {
  const kernel_provider* everywhere = nullptr;    // wherever it has a kernel
  const kernel_provider* where_faster = nullptr;  // than the library's own
};

}  // namespace flowgraph
