// Arrays, formatted by fmt, where checkpoints and fmt's formatters of ranges and streams are included, too: one of them
// is meant, not two.
#include <flowgraph/checkpoint.hpp>
#include <flowgraph/fmt.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

namespace fg = flowgraph;

TEST_CASE("arrays are formatted beside fmt's own formatters") {
  const fg::ndarray<float, 2> a{1, 2};
  CHECK(fmt::format("{}", a) == "[1. 2.]");
  CHECK(fmt::format("{}", std::vector{1, 2}) == "[1, 2]");
}
