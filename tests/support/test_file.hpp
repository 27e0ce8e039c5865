// Where the tests' files are. A function, because a directory in every command line would keep a compiler's cache from
// serving two checkouts.
#pragma once

#include <string>

namespace flowgraph::testing {

// relative to tests/, for example "golden/ridge.txt"
std::string test_file(const std::string& relative);

}  // namespace flowgraph::testing
