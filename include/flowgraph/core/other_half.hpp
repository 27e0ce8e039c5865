// Where the half of the library that no model changes is compiled: engine, kernels, files. A user's file sees its
// functions declared, in an inline namespace that is named after one of three ways:
//   neither macro               header_only: they are inline, and defined in the same file.
//   FLOWGRAPH_COMPILED          in_flowgraph_compiled: flowgraph::compiled has them, or a file of the program with
//   FLOWGRAPH_IMPLEMENTATION    this, which defines them for all its files.
// FLOWGRAPH_OTHER_HALF stands before each of them; where FLOWGRAPH_OTHER_HALF_HERE is 1, the header that declares them
// includes the one that defines them.
// Where a file has everything, it should pay for what it uses alone; but a compiler reads all that an inline function
// needs of the standard library even if nobody calls it. So FLOWGRAPH_LAZY_HALF makes a template there of a function
// that is declared, FLOWGRAPH_LAZY_CODE of its definition, and the classes behind them are templates of a Tag that is
// void.
// FLOWGRAPH_CONSTEXPR is constexpr for functions of more than a line with which a program builds graphs when it runs:
// rules of ops, the gradient. A compiler evaluates them in any file. Where the other half is elsewhere they are
// compiled there and nowhere else (compiled/graph.cpp): they are most of the code that a dynamic_session would bring
// into a file. Not for templates, and not for constructors, which clang 16 then looks for under names that it does not
// make.
#pragma once

#if defined(FLOWGRAPH_IMPLEMENTATION) || defined(FLOWGRAPH_COMPILED)
#define FLOWGRAPH_HALF in_flowgraph_compiled
#define FLOWGRAPH_OTHER_HALF
#define FLOWGRAPH_LAZY_HALF
#define FLOWGRAPH_LAZY_CODE
#ifdef FLOWGRAPH_IMPLEMENTATION
#define FLOWGRAPH_OTHER_HALF_HERE 1
#else
#define FLOWGRAPH_OTHER_HALF_HERE 0
#endif
#else
#define FLOWGRAPH_HALF header_only
#define FLOWGRAPH_OTHER_HALF inline
#define FLOWGRAPH_LAZY_HALF template <class Tag = void>
#define FLOWGRAPH_LAZY_CODE template <class Tag>
#define FLOWGRAPH_OTHER_HALF_HERE 1
#endif

#if !defined(FLOWGRAPH_COMPILED) && !defined(FLOWGRAPH_IMPLEMENTATION) || !defined(__GNUC__)
#define FLOWGRAPH_CONSTEXPR constexpr
#elif defined(FLOWGRAPH_IMPLEMENTATION) && !defined(FLOWGRAPH_GRAPH_ELSEWHERE)
#define FLOWGRAPH_CONSTEXPR __attribute__((used)) inline constexpr
#elif defined(__clang__)  // it warns of an attribute that meant something else before clang 10
#define FLOWGRAPH_CONSTEXPR                                                                                \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgnu-inline-cpp-without-extern\"") \
      __attribute__((gnu_inline)) inline constexpr _Pragma("clang diagnostic pop")
#else  // optimize(0): or g++ would copy them into each other without end
#define FLOWGRAPH_CONSTEXPR __attribute__((gnu_inline, optimize(0))) inline constexpr
#endif

namespace flowgraph::detail {

// Is it compiled once for the program, rather than in each file?
#if defined(FLOWGRAPH_IMPLEMENTATION) || defined(FLOWGRAPH_COMPILED)
inline namespace in_flowgraph_compiled {
inline constexpr bool compiled_once = true;
}
#else
inline namespace header_only {
inline constexpr bool compiled_once = false;
}
#endif

}  // namespace flowgraph::detail
