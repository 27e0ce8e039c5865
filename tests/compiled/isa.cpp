// Prints the instruction set that this program's kernels were compiled for, or why there is none: status 3.
#include <cstdio>
#include <flowgraph/core/error.hpp>
#include <flowgraph/session/library_kernels.hpp>

int main() {
  try {
    std::printf("%.*s\n", static_cast<int>(flowgraph::instruction_set().size()), flowgraph::instruction_set().data());
  } catch (const flowgraph::argument_error& e) {
    std::printf("%s\n", e.what());
    return 3;
  }
}
