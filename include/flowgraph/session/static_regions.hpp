// Element-wise regions of a constexpr model: compiled from it (compiled_regions.hpp), or run as tiles.
#pragma once
#include <flowgraph/kernels/kernel_use.hpp>
#include <flowgraph/kernels/region_mode.hpp>

namespace flowgraph::detail {

template <class Plan, region_mode Regions>
struct static_regions {
  struct table {
    int of[Plan::plan.view().instructions.count + 1]{};  // of each instruction: is its region compiled?
    int count = 0;
  };
  static constexpr table all{};
  static region_function of(int) { return nullptr; }
};

}  // namespace flowgraph::detail

#if FLOWGRAPH_COMPILED_REGIONS
#include "compiled_regions.hpp"
#endif
