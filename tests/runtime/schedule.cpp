// How a step runs, chosen from what its instructions cost and how they wait for each other; and nodes on several
// devices of one machine.
#include <array>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/engine/step/work.hpp>
#include <flowgraph/session/dynamic_session.hpp>

namespace fg = flowgraph;
using fg::detail::choose_walk;
using fg::detail::walk;

namespace {

fg::detail::step_work work(std::int64_t total, std::int64_t longest) {
  fg::detail::step_work w;
  w.total = total;
  w.longest = longest;
  return w;
}

// The work of one step.
fg::detail::step_work work_of(const fg::plan_view& p) {
  std::vector<std::vector<std::int64_t>> dims;
  std::vector<fg::array_view> views;
  for (const fg::operand& o : p.operands) {
    dims.emplace_back();
    for (const fg::extent e : p.dims_of(o.shape)) dims.back().push_back(e);
  }
  for (int i = 0; i < p.operands.size(); ++i) {
    const auto& d = dims[static_cast<std::size_t>(i)];
    views.push_back({nullptr, d.data(), static_cast<int>(d.size()), p.operands[i].type});
  }
  return {p, views.data()};
}

constexpr auto chain = fg::define([](fg::graph& g) {
  auto y = matmul(g.placeholder<float, 64, 64>("x"), g.placeholder<float, 64, 64>("w"));
  for (int i = 0; i < 3; ++i) y = matmul(y, y);
  g.name("y", y);
});
// Nothing is temporary: memory that is used again would make one wait for another.
constexpr auto fan = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 64, 64>("x");
  g.name("a", matmul(x, g.placeholder<float, 64, 64>("w1")));
  g.name("b", matmul(x, g.placeholder<float, 64, 64>("w2")));
  g.name("c", matmul(x, g.placeholder<float, 64, 64>("w3")));
  g.name("d", matmul(x, g.placeholder<float, 64, 64>("w4")));
});

}  // namespace

TEST_CASE("small steps stay on their thread, narrow ones spread their kernels, wide ones their instructions") {
  const fg::session_options two{.threads = 2};
  CHECK(choose_walk(work(900'000, 300'000), 10, two) == walk::alone);
  CHECK(choose_walk(work(5'000'000, 4'900'000), 10, two) == walk::spread);
  CHECK(choose_walk(work(5'000'000, 2'000'000), 10, two) == walk::ready);
  CHECK(choose_walk(work(5'000'000, 2'000'000), 1000, two) == walk::spread);  // too small to hand over
  CHECK(choose_walk(work(5'000'000, 2'000'000), 10, {.threads = 1}) == walk::alone);
  using fg::inter_op_policy;
  CHECK(choose_walk(work(9, 9), 3, {.threads = 2, .inter_op = inter_op_policy::parallel}) == walk::ready);
  CHECK(choose_walk(work(5'000'000, 9), 3, {.threads = 2, .inter_op = inter_op_policy::serial}) == walk::spread);
  CHECK(choose_walk(work(9, 9), 3, {.threads = 2, .inter_op = inter_op_policy::serial}) == walk::alone);
}

TEST_CASE("the longest chain is all there is in a chain of products, and a quarter in a fan of four") {
  const auto narrow = work_of(fg::plan_of<chain, fg::fetch<"y">, fg::fetch<"x", "w">>.view());
  CHECK(narrow.total == 4 * 2 * 64 * 64 * 64);
  CHECK(narrow.longest == narrow.total);
  const auto wide =
      work_of(fg::plan_of<fan, fg::fetch<"a", "b", "c", "d">, fg::fetch<"x", "w1", "w2", "w3", "w4">>.view());
  CHECK(wide.total == narrow.total);
  CHECK(wide.longest == wide.total / 4);
}

TEST_CASE("devices of one machine share its threads, and values go from one to the other") {
  fg::graph g;
  auto x = g.placeholder<float, 4>("x");
  auto v = [&] {
    auto there = g.device("/cpu:1");
    return g.variable<float, 4>("v", fg::init::ones());
  }();
  auto twice = x * 2.0f;
  auto update = [&] {
    auto there = g.device("/cpu:1");
    return assign_add(v, twice);
  }();
  auto sum = reduce_sum(v * twice);
  const std::array<float, 4> one{1, 2, 3, 4};
  for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
    fg::dynamic_session s(g, {.threads = 2, .inter_op = inter_op, .devices = {"/cpu:0", "/cpu:1"}});
    CHECK(s.run(sum, fg::feed(x, one)) == 20);
    for (int i = 0; i < 20; ++i) s.run(update, fg::feed(x, one));
    CHECK(s.get(v)(3) == 1 + 20 * 8);
    CHECK(s.run(sum, fg::feed(x, one)) == 20 + 20 * (4 + 16 + 36 + 64));
  }
  fg::dynamic_session alone(g, {.threads = 1});
  CHECK_THROWS_AS(alone.run(update, fg::feed(x, one)), fg::plan_error);
  CHECK_THROWS_AS(fg::dynamic_session(g, {.devices = {"/gpu:0"}}), fg::argument_error);
  CHECK_THROWS_AS(fg::dynamic_session(g, {.devices = {"cpu"}}), fg::argument_error);
}
