// Who knows the kernels of the library's ops: in a program that has them once, a function of that place; in a file that
// has everything, a table that is compiled where it is asked for.
#pragma once
#include <string_view>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/kernels/kernel_use.hpp>
#if FLOWGRAPH_OTHER_HALF_HERE
#include <flowgraph/kernels/cpu/table.hpp>
#endif

namespace flowgraph {

inline namespace FLOWGRAPH_HALF {

// What the kernels that this program runs were compiled for: "x86-64", "x86-64-v3", "x86-64-v4" with
// flowgraph::compiled; "as-compiled" where there is only one set of them.
FLOWGRAPH_OTHER_HALF std::string_view instruction_set();

}  // namespace FLOWGRAPH_HALF

namespace detail {

// void, but only where the templates around it are instantiated: clang takes std::void_t<T> for void at once, and then
// instantiates what a call that depends on nothing else needs wherever it reads one.
template <class>
struct void_when_used {
  using type = void;
};

inline namespace FLOWGRAPH_HALF {

#if defined(FLOWGRAPH_IMPLEMENTATION) || defined(FLOWGRAPH_COMPILED)

bound_kernel find_library_kernel(const kernel_use& use);

template <class Tag = void>
constexpr kernel_finder library_kernels() {
  return &find_library_kernel;
}

#else

template <class Tag = void>
constexpr kernel_finder library_kernels() {
  return &kernel_table<Tag>::find;
}

#endif

#ifdef FLOWGRAPH_IMPLEMENTATION
bound_kernel find_library_kernel(const kernel_use& use) { return kernel_table<>::find(use); }
#endif

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

#if FLOWGRAPH_OTHER_HALF_HERE
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string_view instruction_set() { return "as-compiled"; }

}  // namespace FLOWGRAPH_HALF
#endif

}  // namespace flowgraph
