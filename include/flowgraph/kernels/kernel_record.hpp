// All kernels of one op, by the type that decides.
#pragma once
#include <array>
#include <cstddef>

#include "kernel_use.hpp"

namespace flowgraph::detail {

inline constexpr int dtype_count = static_cast<int>(dtype::float64) + 1;

struct kernel_record {
  dtype (*deciding)(const kernel_use&) = nullptr;
  std::array<bound_kernel, dtype_count> by_type{};                // of the deciding type
  const std::array<tile_function, dtype_count>* casts = nullptr;  // [to][from], of cast alone

  bound_kernel find(const kernel_use& use) const {
    if (casts != nullptr) return casts[static_cast<std::size_t>(use.out)][static_cast<std::size_t>(use.in[0])];
    return by_type[static_cast<std::size_t>(deciding(use))];
  }
};

}  // namespace flowgraph::detail
