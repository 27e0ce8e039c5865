// The ridge example: both ways agree with each other and with the referees.
#include <doctest/doctest.h>

#include "support/golden.hpp"

#define main ridge_main
#include "../../examples/02_ridge_regression.cpp"
#include "support/test_file.hpp"
#undef main

TEST_CASE("ridge regression in closed form, by gradient descent and by the referees is the same") {
  const auto data = example::read_csv(flowgraph::testing::test_file("../examples/data/diabetes.csv"), true);
  const ridge_result r = solve_ridge(data, 300);
  CHECK(largest_difference(r.closed, r.descended) < 1e-4);
  bool found = false;
  for (const auto& c : flowgraph::testing::read_goldens(flowgraph::testing::test_file("golden/ridge.txt"))) {
    if (c.number("lambda") != lambda) continue;
    found = true;
    for (int i = 0; i < 10; ++i)
      CHECK(r.closed.w(i, 0) == doctest::Approx(c.out[0].values[static_cast<std::size_t>(i)]).epsilon(1e-6));
    CHECK(r.closed.b == doctest::Approx(c.number("target_mean")).epsilon(1e-12));
    CHECK(r.cost == doctest::Approx(c.out[1].values[0]).epsilon(1e-6));
  }
  CHECK(found);
}
