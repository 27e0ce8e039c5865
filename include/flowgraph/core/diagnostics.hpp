// Compile-time diagnostics. mistake<problem, facts...>() fails to compile with the problem's sentence; the facts
// (tensor types, names, lines) are its template arguments, which g++ and clang print in the headline.
#pragma once
#include <cstdint>

#include "fixed_string.hpp"
#include "problem.hpp"

namespace flowgraph {

// Facts. Only their names matter: they are what a compiler prints.
template <fixed_string Name>
struct named;
template <fixed_string Name>
struct op_named;
template <std::int64_t... Axes>
struct axes;
template <int Line>
struct at_line;
template <class Fact>
struct required;

namespace detail {

template <bool Wrong, class... Given>
inline constexpr bool given = !Wrong;

// The deduced return type makes compilers instantiate this where it is called. With void g++ waits until it evaluates
// the user's graph and prints a page of context; as a class clang calls everything around it invalid too.
template <problem P, class... Given>
constexpr auto mistake() {
#define FLOWGRAPH_PROBLEM(name, sentence) static_assert(given<P == problem::name, Given...>, sentence);
  FLOWGRAPH_PROBLEMS(FLOWGRAPH_PROBLEM)
#undef FLOWGRAPH_PROBLEM
}

}  // namespace detail
}  // namespace flowgraph
