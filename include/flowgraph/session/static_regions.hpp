// Whether element-wise regions of a constexpr model are compiled from it, as straight-line code in the user's file
// (compiled_regions.hpp), or run as the library's tiles, one op after another. -DFLOWGRAPH_REGIONS=compiled or =tiles
// says it; by default they are compiled where the compiler optimises. Where the library's kernels are compiled once and
// chosen for the processor, this file's code must be for no older one than AVX2 to be the faster.
#pragma once
#include <flowgraph/kernels/kernel_use.hpp>

#define FLOWGRAPH_REGIONS_ARE_compiled 1
#define FLOWGRAPH_REGIONS_ARE_tiles 2
#ifdef FLOWGRAPH_REGIONS
#define FLOWGRAPH_JOIN_NOW(a, b) a##b
#define FLOWGRAPH_JOIN(a, b) FLOWGRAPH_JOIN_NOW(a, b)
#if FLOWGRAPH_JOIN(FLOWGRAPH_REGIONS_ARE_, FLOWGRAPH_REGIONS) == 1
#define FLOWGRAPH_COMPILED_REGIONS 1
#elif FLOWGRAPH_JOIN(FLOWGRAPH_REGIONS_ARE_, FLOWGRAPH_REGIONS) == 2
#define FLOWGRAPH_COMPILED_REGIONS 0
#else
#error "FLOWGRAPH_REGIONS is compiled or tiles"
#endif
#elif !defined(__OPTIMIZE__)
#define FLOWGRAPH_COMPILED_REGIONS 0
#elif (defined(FLOWGRAPH_COMPILED) || defined(FLOWGRAPH_IMPLEMENTATION)) && defined(__x86_64__) && !defined(__AVX2__)
#define FLOWGRAPH_COMPILED_REGIONS 0
#else
#define FLOWGRAPH_COMPILED_REGIONS 1
#endif

namespace flowgraph::detail {

enum class region_mode { compiled, tiles };

inline constexpr region_mode regions_of_this_file =
    FLOWGRAPH_COMPILED_REGIONS ? region_mode::compiled : region_mode::tiles;

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
