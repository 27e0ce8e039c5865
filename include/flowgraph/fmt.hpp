// fmt::print("{}", array): what <flowgraph.hpp> has for std::cout, for fmt.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/arrays/print_with_fmt.hpp>
