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

// Named with what must be a constant expression.
template <bool>
struct constant_bool;

template <class... Given>
inline constexpr bool given = false;

// mistake<P, Given...>() fails with the sentence of P. The deduced return type makes compilers instantiate it where it
// is called: with void g++ waits until it evaluates the user's graph and prints a page of context, and as a class
// clang calls everything around it invalid too.
template <problem P>
struct mistake_of;
#define FLOWGRAPH_PROBLEM(name, sentence)       \
  template <>                                   \
  struct mistake_of<problem::name> {            \
    template <class... Given>                   \
    static constexpr auto report() {            \
      static_assert(given<Given...>, sentence); \
    }                                           \
  };
FLOWGRAPH_PROBLEMS(FLOWGRAPH_PROBLEM)
#undef FLOWGRAPH_PROBLEM

template <problem P, class... Given>
constexpr auto mistake() {
  mistake_of<P>::template report<Given...>();
}

}  // namespace detail
}  // namespace flowgraph
