// The digits example, held to its promises: at least 96% on images it has not seen, and the same bits on one thread and
// on two.
#include <doctest/doctest.h>

#define main digits_main
#include "../../examples/03_digits_mlp.cpp"
#include "support/test_file.hpp"
#undef main

TEST_CASE("the digits network learns, and does not depend on the number of threads") {
  const example::digits_data data(fg::testing::test_file("../examples/data"));
  CHECK(data.train.labels.size() == 1438);
  CHECK(data.test.labels.size() == 359);
  fg::session<digits> one({.threads = 1, .seed = 42}),
      two({.threads = 2, .seed = 42, .inter_op = fg::inter_op_policy::parallel});
  const training_result a = train_digits(one, data, 60), b = train_digits(two, data, 60);
  CHECK(a.accuracy >= 0.96f);
  CHECK(a.accuracy == b.accuracy);
  CHECK(a.loss == b.loss);
  CHECK(one.get<"w1">() == two.get<"w1">());
  CHECK(one.get<"b2">() == two.get<"b2">());
}
