#include "test_file.hpp"

namespace flowgraph::testing {

std::string test_file(const std::string& relative) { return FLOWGRAPH_TESTS_DIR "/" + relative; }

}  // namespace flowgraph::testing
