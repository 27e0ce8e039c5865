// 200 random graphs over the op set: with and without the passes, on one thread and on two, with Eigen's kernels and
// with oneDNN's, a session computes the same numbers.
#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/engine/built_in_providers.hpp>
#include <flowgraph/graph/print.hpp>
#include <flowgraph/session/dynamic_session.hpp>

#include "support/random_graph_data.hpp"

namespace fg = flowgraph;
using random_graph::output_rows;

namespace {

output_rows run(fg::graph& g, const random_graph::feeds& data, const fg::session_options& options) {
  const auto handle = [&](const char* name) {
    return fg::tensor<double, fg::dim{"n"}>{&g.data(), g.view().find(name)};
  };
  fg::dynamic_session s(g, options);
  const auto values = data.give([&](const auto&... feeds) {
    return s.run(handle("out0"), handle("out1"), handle("out2"), handle("out3"), handle("out4"), feeds...);
  });
  output_rows all;
  std::apply([&](const auto&... v) { (all.emplace_back(v.begin(), v.end()), ...); }, values);
  return all;
}

}  // namespace

TEST_CASE("a random graph gives the same numbers however it is run") {
  const fg::passes::options as_written{.fold = false, .simplify = false, .cse = false, .fuse = false};
  std::vector<fg::kernels> providers{fg::kernels::eigen};
  if (fg::detail::built_in_providers().everywhere != nullptr) providers.push_back(fg::kernels::onednn);
  std::set<std::string> ops;
  int least = 1000, most = 0;
  double furthest[2] = {0, 0};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    fg::graph g;
    random_graph::build(g, seed);
    REQUIRE(fg::verify(g.view()).why == fg::problem::none);
    for (const fg::node& n : g.view().nodes) ops.insert(std::string(n.op->name));
    const random_graph::feeds data(seed);
    const output_rows expected =
        run(g, data, {.threads = 1, .seed = seed, .kernels = fg::kernels::eigen, .passes = as_written});
    double largest = 0;
    for (const auto& row : expected)
      for (const double v : row) largest = std::max(largest, std::isfinite(v) ? std::abs(v) : INFINITY);
    CHECK(largest < 1e4);  // or a comparison would say little
    for (const bool passes : {false, true})
      for (const int threads : {1, 2})
        for (const fg::kernels provider : providers) {
          CAPTURE(passes);
          CAPTURE(threads);
          CAPTURE(static_cast<int>(provider));
          fg::session_options options{.threads = threads, .seed = seed, .serial_below = 0, .kernels = provider};
          options.inter_op = fg::inter_op_policy::parallel;
          if (!passes) options.passes = as_written;
          const bool halves = random_graph::has_halves(seed);
          const double apart = random_graph::distance(expected, run(g, data, options), halves);
          CHECK(apart <= 1);
          furthest[halves] = std::max(furthest[halves], apart);
        }
    least = std::min(least, g.view().size());
    most = std::max(most, g.view().size());
  }
  CHECK(ops.size() > 90);
  MESSAGE(ops.size(), " ops in graphs of ", least, " to ", most, " nodes with their gradients; at most ", furthest[0],
          " of the tolerance apart, with halves ", furthest[1]);
}
