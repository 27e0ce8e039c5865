// fmt::print("{}", array): what <flowgraph.hpp> has for std::cout, for fmt.
#pragma once
#include <flowgraph/arrays/print_with_fmt.hpp>
