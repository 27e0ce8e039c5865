// Training an embedding by its sparse gradient gives what the dense gradient gives, and never makes the dense one.
#include <doctest/doctest.h>

#include <vector>

#include <flowgraph/functions/gather.hpp>
#include <flowgraph/functions/neural.hpp>
#include <flowgraph/language/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/training/optimizers.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

// The table after two steps, in which rows are looked up twice in one lookup and in two.
template <class Optimizer, class Lookup>
std::vector<float> trained(const Optimizer& optimizer, const Lookup& lookup) {
  fg::graph g;
  const auto table = g.variable<float, 6, 2>("table");
  const auto i = g.placeholder<std::int64_t, batch>("i");
  const auto j = g.placeholder<std::int32_t, batch, 2>("j");
  const auto loss = reduce_sum(square(lookup(table, i) + 1)) + reduce_sum(exp(lookup(table, j)));
  const auto train = optimizer.minimize(loss);
  fg::dynamic_session s(g, {.threads = 1});
  s.set(table, std::vector<float>{.1f, .2f, .3f, .4f, .5f, .6f, .7f, .8f, .9f, 1.f, 1.1f, 1.2f});
  const std::vector<std::int64_t> rows{4, 1, 4};
  const std::vector<std::int32_t> pairs{1, 1, 0, 4, 5, 1};
  for (int step = 0; step < 2; ++step) s.run(train, fg::feed(i, rows), fg::feed(j, pairs));
  const auto result = s.get(table);
  return {result.begin(), result.end()};
}

template <class Optimizer>
void compare(const Optimizer& optimizer) {
  const auto sparse = trained(optimizer, [](auto t, auto i) { return embedding_lookup(t, i); });
  const auto dense = trained(optimizer, [](auto t, auto i) { return fg::gather<0>(t, i); });
  for (std::size_t k = 0; k < dense.size(); ++k) CHECK(sparse[k] == doctest::Approx(dense[k]).epsilon(1e-5));
  CHECK(sparse[2 * 2] == .5f);  // row 2 is never looked up
}

template <class Optimizer>
constexpr bool stays_sparse(const Optimizer& optimizer) {
  fg::graph g;
  const auto table = g.variable<float, 1000, 8>("table");
  const auto i = g.placeholder<std::int64_t, batch>("i");
  (void)optimizer.minimize(reduce_sum(square(embedding_lookup(table, i))) + reduce_sum(embedding_lookup(table, i)));
  const fg::graph_data& d = g.data();
  for (int n = 0; n < d.size(); ++n)
    for (int k = 0; k < d.nodes[n].n_inputs; ++k)
      if (d.nodes[d.inputs(n)[k]].op->id == fg::ops::indexed_slices::id) return false;
  return d.first_fault.why == fg::problem::none;
}
static_assert(stays_sparse(fg::gradient_descent(0.1)) && stays_sparse(fg::adagrad(0.1)) && stays_sparse(fg::adam(0.1)));

}  // namespace

TEST_CASE("sparse and dense training of an embedding agree") {
  SUBCASE("gradient descent") { compare(fg::gradient_descent(0.1)); }
  SUBCASE("adagrad") { compare(fg::adagrad(0.1)); }
}
