// The sampled softmax beside TensorFlow's, and the samplers beside their laws.
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include "support/golden.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

fg::testing::golden_case golden(const std::string& name) {
  for (const auto& c : fg::testing::read_goldens(fg::testing::test_file("golden/sampled_softmax.txt")))
    if (c.name == name) return c;
  throw std::out_of_range(name);
}

// TensorFlow's numbers of how often a class is expected are float32.
template <class Array>
void check(const Array& got, const std::vector<double>& expected) {
  REQUIRE(static_cast<std::size_t>(got.size()) == expected.size());
  std::size_t i = 0;
  for (const double x : got) CHECK(x == doctest::Approx(expected[i++]).epsilon(1e-6));
}

// draw: candidates for a table of weights.
template <class Draw>
void compare(const std::string& name, const Draw& draw) {
  const auto c = golden(name);
  fg::graph g;
  const auto w = g.placeholder<double, 20, 3>("w");
  const auto b = g.placeholder<double, 20>("b");
  const auto x = g.placeholder<double, batch, 3>("x");
  const auto y = g.placeholder<std::int32_t, batch>("y");
  auto candidates = draw(w);
  candidates.classes = g.placeholder<std::int64_t, 8>("classes");
  const auto loss = fg::sampled_softmax_loss(w, b, x, y, candidates);
  static_assert(std::is_same_v<decltype(loss), const fg::tensor<double, batch>>);
  const auto scale = g.placeholder<double, batch>("scale");
  const auto [dw, db, dx] = fg::gradients(reduce_sum(loss * scale), w, b, x);

  fg::dynamic_session s(g, {.threads = 1, .check_numerics = true});
  const auto [value, by_w, by_b, by_x] =
      s.run(loss, dw, db, dx, fg::feed(w, c.in[0].values), fg::feed(b, c.in[1].values), fg::feed(x, c.in[2].values),
            fg::feed(y, c.in[3].as<std::int32_t>()), fg::feed(candidates.classes, c.in[4].as<std::int64_t>()),
            fg::feed(scale, c.weight->values));
  check(value, c.out[0].values);
  check(by_w, c.grads[0].second.values);
  check(by_b, c.grads[1].second.values);
  check(by_x, c.grads[2].second.values);
}

// How often each of ten classes is drawn, within four deviations of what is expected.
template <class Draw>
void count(const Draw& draw) {
  fg::graph g;
  const auto w = g.variable<float, 10, 2>("w");
  const auto candidates = draw(w);
  const auto expected = exp(candidates.template log_expected<float>(fg::range<std::int64_t, 10>(g, 0, 1)));
  fg::dynamic_session s(g, {.threads = 1, .seed = 5});
  const auto drawn = s.run(candidates.classes);
  std::vector<double> times(10, 0);
  for (const std::int64_t k : drawn) ++times.at(static_cast<std::size_t>(k));
  double total = 0;
  const auto law = s.run(fg::broadcast_to<10>(expected));
  for (int k = 0; k < 10; ++k) {
    const double n = law(k), p = n / 20000;
    CHECK(std::abs(times[static_cast<std::size_t>(k)] - n) < 4 * std::sqrt(n * (1 - p)));
    total += n;
  }
  CHECK(total == doctest::Approx(20000).epsilon(1e-5));
  CHECK(s.run(candidates.classes) != drawn);  // others in the next step
}

constexpr bool stays_sparse() {
  fg::graph g;
  const auto w = g.variable<float, 5000, 8>("w");
  const auto b = g.variable<float, 5000>("b");
  const auto x = g.placeholder<float, batch, 8>("x");
  const auto y = g.placeholder<std::int64_t, batch>("y");
  const auto loss = fg::sampled_softmax_loss(w, b, x, y, fg::log_uniform_candidates<64>(w));
  (void)fg::adagrad(0.1).minimize(reduce_mean(loss));
  const fg::graph_data& d = g.data();
  for (int n = 0; n < d.size(); ++n)
    for (int k = 0; k < d.nodes[n].n_inputs; ++k)
      if (d.nodes[d.inputs(n)[k]].op->id == fg::ops::indexed_slices::id) return false;
  return d.first_fault.why == fg::problem::none;
}
static_assert(stays_sparse());

}  // namespace

TEST_CASE("the sampled softmax loss and its gradients are TensorFlow's") {
  compare("log_uniform", [](auto w) { return fg::log_uniform_candidates<8>(w); });
  compare("uniform", [](auto w) { return fg::uniform_candidates<8>(w); });
}

TEST_CASE("candidates are drawn by their law") {
  SUBCASE("log-uniform") {
    count([](auto w) { return fg::log_uniform_candidates<20000>(w); });
  }
  SUBCASE("uniform") {
    count([](auto w) { return fg::uniform_candidates<20000>(w); });
  }
}
