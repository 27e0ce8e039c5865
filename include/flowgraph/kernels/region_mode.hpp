// Whether element-wise code is made for a model, in the user's file: straight-line code for each region, and users'
// element-wise ops on as many numbers at once as the processor computes. Or tiles: the library's own, one op after
// another, and users' ops number by number. -DFLOWGRAPH_REGIONS=compiled or =tiles says it; by default it is compiled
// where the compiler optimises. Where the library's kernels are compiled once and chosen for the processor, this file's
// code must be for no older one than AVX2 to be the faster.
#pragma once

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

}  // namespace flowgraph::detail
