// Twenty steps of three optimizers, held to losses that JAX and NumPy computed.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>

#include "../../examples/support/table.hpp"
#include "support/golden.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

template <class Optimizer>
void check_training(const std::string& name, const Optimizer& optimizer) {
  INFO(name);
  const auto cases = fg::testing::read_goldens(fg::testing::test_file("golden/digits_mlp.txt"));
  const auto at = [&](const std::string& wanted) -> const fg::testing::golden_case& {
    for (const auto& c : cases)
      if (c.name == wanted) return c;
    throw std::out_of_range(wanted);
  };
  fg::graph g;
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 64, 32>("w1");
  auto b1 = g.variable<float, 32>("b1");
  auto w2 = g.variable<float, 32, 10>("w2");
  auto b2 = g.variable<float, 10>("b2");
  auto loss = reduce_mean(softmax_cross_entropy_with_logits(matmul(relu(matmul(x, w1) + b1), w2) + b2, y));
  auto train = optimizer(at(name)).minimize(loss);
  fg::dynamic_session s(g, {.threads = 1});
  const std::vector<fg::testing::golden_array>& initial = at("initial_parameters").out;
  s.set(w1, initial[0].as<float>());
  s.set(b1, initial[1].as<float>());
  s.set(w2, initial[2].as<float>());
  s.set(b2, initial[3].as<float>());

  const auto data = example::read_csv(fg::testing::test_file("../examples/data/digits.csv"));
  const auto& expected = at(name).out;
  for (std::size_t step = 0; step < 20; ++step) {
    std::vector<float> images;
    std::vector<std::int64_t> labels;
    for (std::size_t row = step % 5 * 32; row < step % 5 * 32 + 32; ++row) {
      for (std::size_t j = 0; j < 64; ++j) images.push_back(static_cast<float>(data.at(row, j)) / 16.0f);
      labels.push_back(static_cast<std::int64_t>(data.at(row, 64)));
    }
    const float got = s.run(loss, train, fg::feed(x, images), fg::feed(y, labels));
    CHECK(static_cast<double>(got) == doctest::Approx(expected[0].values[step]).epsilon(1e-5));
  }
  const auto bias = s.get(b2);
  for (int i = 0; i < 10; ++i)
    CHECK(static_cast<double>(bias(i)) ==
          doctest::Approx(expected[1].values[static_cast<std::size_t>(i)]).epsilon(1e-4));
}

}  // namespace

TEST_CASE("optimizers follow the referees' losses") {
  using c = fg::testing::golden_case;
  check_training("sgd", [](const c& k) { return fg::gradient_descent(k.number("learning_rate")); });
  check_training("momentum", [](const c& k) { return fg::momentum(k.number("learning_rate"), k.number("momentum")); });
  check_training("adagrad", [](const c& k) {
    return fg::adagrad(k.number("learning_rate"), k.number("initial_accumulator"), k.number("epsilon"));
  });
}
