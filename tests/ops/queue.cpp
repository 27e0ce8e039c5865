// What queues, mutexes and counters are in a graph: their shapes, their nodes, what passes make of them.
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/graph/verify.hpp>

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto q = fg::fifo_queue<fg::tensor<float, 2, 3>, fg::tensor<std::int64_t>>(g, "q", 10);
  using components = fg::queue<fg::tensor<float, 2, 3>, fg::tensor<std::int64_t>>;
  static_assert(std::is_same_v<decltype(q), components>);
  auto one = q.dequeue();
  static_assert(std::is_same_v<decltype(one), std::tuple<fg::tensor<float, 2, 3>, fg::tensor<std::int64_t>>>);
  auto many = q.dequeue_many<batch>();
  static_assert(
      std::is_same_v<decltype(many), std::tuple<fg::tensor<float, batch, 2, 3>, fg::tensor<std::int64_t, batch>>>);
  auto some = q.dequeue_up_to<4>();
  static_assert(
      std::is_same_v<decltype(some),
                     std::tuple<fg::tensor<float, 4, 2, 3>, fg::tensor<std::int64_t, 4>, fg::tensor<std::int64_t>>>);
  g.name("put", q.enqueue(std::get<0>(one), std::get<1>(one)));
  g.name("put_many", q.enqueue_many(std::get<0>(many), std::get<1>(many)));
  g.name("some", std::get<0>(some)), g.name("count", std::get<2>(some));
  static_assert(std::is_same_v<decltype(q.size()), fg::tensor<std::int64_t>>);
  g.name("size", q.size());

  auto p = fg::priority_queue<fg::tensor<float>>(g, "p", 10);
  static_assert(std::is_same_v<decltype(p), fg::queue<fg::tensor<std::int64_t>, fg::tensor<float>>>);
  auto alone = fg::random_shuffle_queue<fg::tensor<bool, 4>>(g, "r", 10).dequeue();
  static_assert(std::is_same_v<decltype(alone), fg::tensor<bool, 4>>);
  g.name("alone", alone);
  auto count = g.variable<std::int32_t>("n");
  static_assert(std::is_same_v<decltype(fg::count_up_to(count, 3)), fg::tensor<std::int32_t>>);
  g.name("next", fg::count_up_to(count, 3));
  g.name("next_again", fg::count_up_to(count, 3));
});

static_assert(fg::verify(model.view()).why == fg::problem::none);

constexpr int instructions(std::initializer_list<std::string_view> names) {
  fg::detail::vec<int> fetches, feeds;
  for (const std::string_view n : names) fetches.push(model.view().find(n));
  constexpr std::string_view devices[] = {"/cpu:0"};
  return fg::passes::plan(model.view(), {fetches, feeds}, {devices, 1}, {.verify = true}).instructions.size();
}

}  // namespace

// Equal ops on a queue are neither merged nor left out; the declaration is no instruction.
static_assert(instructions({"size"}) == 1);
static_assert(instructions({"put"}) == 2);
static_assert(instructions({"some", "count"}) == 1);
static_assert(instructions({"next", "next_again"}) == 2);

TEST_CASE("a malformed element is refused when a graph is built at run time") {
  fg::graph g;
  CHECK_THROWS_AS((fg::fifo_queue<fg::tensor<float>>(g, "q", 0)), fg::graph_error);
  CHECK_THROWS_AS((fg::fifo_queue<fg::tensor<float>>(g, "a/b", 1)), fg::graph_error);
  CHECK_THROWS_AS((fg::barrier(g, "b", 0)), fg::graph_error);
  fg::graph other;
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 1);
  CHECK_THROWS_AS(q.enqueue(other.placeholder<float>("x")), fg::graph_error);
}
