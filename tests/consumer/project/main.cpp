double deviation = 0;  // parameters in the library's headers have this name, which g++ -Wshadow would report

#include <cstdio>
#include <flowgraph.hpp>
#include <flowgraph/data.hpp>
#include <string>

#include "model.hpp"

int main() {
  flowgraph::session<line> s;
  const flowgraph::ndarray<float, batch, 2> x{{1, 2}, {3, 4}, {5, 6}};
  for (const auto& rows : flowgraph::from_memory(x).batch(3)) {
    const auto y = s.run<"y">(flowgraph::feed<"x">(rows));  // w starts as zeros
    if (y.size() != 3 || y.data()[0] != 1.0f || parameters_of_line() != 2 || deviation != 0) return 1;
  }
#ifdef FLOWGRAPH_COMPILED
  std::printf("kernels for %s\n", std::string(flowgraph::instruction_set()).c_str());
#endif
  std::puts("flowgraph works here");
}
