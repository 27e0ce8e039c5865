// What lies between the program and kernels that were compiled for one instruction set: plain data and pointers to
// functions. Nothing of Eigen's or the standard library's passes, because their types differ with the instruction set
// (alignment, how memory is freed).
#pragma once
#include <cstddef>
#include <cstdint>

#include <flowgraph/kernels/kernel_record.hpp>

namespace flowgraph::detail {

struct variant_entry {
  std::uint64_t op = 0;
  kernel_record record;
};

struct variant_kernels {
  const variant_entry* entries = nullptr;
  std::size_t count = 0;
};

}  // namespace flowgraph::detail
