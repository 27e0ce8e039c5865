// Element-wise regions over whole results.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "parallel.hpp"

namespace flowgraph {

// The kernel of an instruction that is a region and nothing else, and what is left of one whose op is done. The result
// may lie where an operand of its shape does.
inline void run_region(const kernel_args& k) {
  constexpr std::int64_t unit = 1024;  // tiles are not cut
  const std::int64_t steps = std::max(k.region->steps.count, 1);
  parallel_for(k, k.out[0].size(), part_size(steps, unit),
               [&](std::int64_t first, std::int64_t last) { k.finish(first, last); });
}

}  // namespace flowgraph
