// Rows of a table by Adagrad with sparse gradients, as PyTorch trains them; built by the compiler and by the program.
#include <cstdint>
#include <tuple>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

#include "models/training.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

// All that a step or a test names.
constexpr auto build(fg::graph& g) {
  auto ids = g.placeholder<std::int64_t, batch, 6>("ids");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto table = g.variable<float, 60, 8>("table");
  auto w = g.variable<float, 8, 3>("w");
  auto b = g.variable<float, 3>("b");
  auto h = reduce_mean<1>(embedding_lookup(table, ids));  // [batch, 8]
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(matmul(h, w) + b, y)));
  auto train = g.name("train", fg::adagrad(0.5, 0.1, 1e-7).minimize(loss));
  return std::tuple(ids, y, table, w, b, loss, train);
}
constexpr auto embedding = fg::define([](fg::graph& g) { build(g); });

const models::batches<std::int64_t> words{bench::integers(4 * 16 * 6, 0, 59)};
const models::batches<std::int64_t> labels{bench::integers(4 * 16, 1, 3)};

template <class Table>
void check_rows(const Table& table) {
  const auto golden = models::expected("embedding");
  const std::vector<float> initial = bench::numbers(60 * 8, 2, 0.5f);
  for (int i = 0; i < 8; ++i) {
    CHECK(static_cast<double>(table(0, i)) == models::near(golden[1].values[static_cast<std::size_t>(i)]));
    CHECK(table(59, i) == initial[static_cast<std::size_t>(59 * 8 + i)]);  // never looked up: not touched
  }
}

}  // namespace

TEST_CASE("an embedding with sparse gradients has PyTorch's losses") {
  fg::session<embedding> s({.threads = 1});
  s.set<"table">(bench::numbers(60 * 8, 2, 0.5f));
  s.set<"w">(bench::numbers(8 * 3, 3, 0.5f));
  s.set<"b">(bench::numbers(3, 4, 0.1f));
  models::follow(models::expected("embedding")[0].values, [&](std::size_t i) -> float {
    return s.run<"loss", "train">(fg::feed<"ids">(words(i)), fg::feed<"y">(labels(i)));
  });
  check_rows(s.get<"table">());
}

TEST_CASE("so has the same graph when the program builds it") {
  fg::graph g;
  const auto [ids, y, table, w, b, loss, train] = build(g);
  fg::dynamic_session s(g, {.threads = 1});
  s.set(table, bench::numbers(60 * 8, 2, 0.5f));
  s.set(w, bench::numbers(8 * 3, 3, 0.5f));
  s.set(b, bench::numbers(3, 4, 0.1f));
  models::follow(models::expected("embedding")[0].values,
                 [&, &loss = loss, &train = train, &ids = ids, &y = y](std::size_t i) -> float {
                   return s.run(loss, train, fg::feed(ids, words(i)), fg::feed(y, labels(i)));
                 });
  check_rows(s.get(table));
}
