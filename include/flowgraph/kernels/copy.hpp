// The kernels of ops that compute nothing.
#pragma once
#include <cstddef>
#include <cstring>

#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph::detail {

// The same bytes at another place: an op that is a view runs only where its operand's memory is about to change.
inline void copy_kernel(const kernel_args& k) {
  const auto bytes = static_cast<std::size_t>(k.out[0].size()) * static_cast<std::size_t>(size_of(k.out[0].type));
  if (bytes > 0) std::memcpy(k.out[0].data, k.in[0].data, bytes);
}

// What is only news: that something is done.
inline void nothing_kernel(const kernel_args&) {}

}  // namespace flowgraph::detail
