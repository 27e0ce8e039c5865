// Sessions that were moved from: each call is refused, and what they had goes on elsewhere.
#include <chrono>
#include <tuple>
#include <utility>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr auto model = fg::define([](fg::graph& g) {
  auto w = g.variable<float, 2>("w");
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 4);
  g.name("put", q.enqueue(reduce_sum(w)));
  std::ignore = fg::mutex(g, "m");
  std::ignore = fg::barrier(g, "b", 1);
  g.name("step", assign_add(w, 1));
  g.name("twice", w * 2);
});

template <class Call>
void refuses(const Call& call) {
  CHECK_THROWS_WITH_AS(call(), "the session has been moved from, and nothing is left to run", fg::argument_error);
}

}  // namespace

TEST_CASE("a session that was moved from refuses whatever it is asked") {
  fg::session<model> s({.threads = 1});
  s.run<"step">();
  fg::session<model> now(std::move(s));
  fg::ndarray<float, 2> out;
  refuses([&] { s.run<"step">(); });
  refuses([&] { s.run<"step">(fg::within(std::chrono::seconds(1))); });
  refuses([&] { std::ignore = s.run_async<"step">(); });
  refuses([&] { s.run_into<"twice">(out); });
  refuses([&] { std::ignore = s.plan_text<"step">(); });
  refuses([&] { std::ignore = s.get<"w">(); });
  refuses([&] { s.set<"w">({1.f, 2.f}); });
  refuses([&] { s.initialize(1); });
  refuses([&] { std::ignore = s.queue<"q">(); });
  refuses([&] { std::ignore = s.mutex<"m">(); });
  refuses([&] { std::ignore = s.barrier<"b">(); });
  refuses([&] { std::ignore = s.profile(); });
  CHECK(now.get<"w">()(0) == 1);
  s = std::move(now);
  CHECK(s.run<"twice">()(1) == 2);
  refuses([&] { now.run<"step">(); });
}

TEST_CASE("a dynamic_session that was moved from refuses whatever it is asked") {
  fg::graph g;
  const auto w = g.variable<float, 2>("w");
  const auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 4);
  const auto m = fg::mutex(g, "m");
  const auto b = fg::barrier(g, "b", 1);
  const auto step = assign_add(w, 1);
  const auto twice = w * 2;
  const auto check = [&](fg::dynamic_session& s, bool own) {
    s.run(step);
    fg::dynamic_session now(std::move(s));
    fg::ndarray<float, 2> out;
    refuses([&] { s.run(step); });
    refuses([&] { std::ignore = s.run_async(step); });
    refuses([&] { s.run_into(out, twice); });
    refuses([&] { std::ignore = s.plan_text(step); });
    refuses([&] { std::ignore = s.get(w); });
    refuses([&] { s.set(w, {1.f, 2.f}); });
    if (own) refuses([&] { s.initialize(1); });
    refuses([&] { std::ignore = s.queue(q); });
    refuses([&] { std::ignore = s.mutex(m); });
    refuses([&] { std::ignore = s.barrier(b); });
    refuses([&] { std::ignore = s.profile(); });
    CHECK(now.get(w)(0) == 1);
    s = std::move(now);
    CHECK(s.run(twice)(1) == 2);
  };
  fg::dynamic_session of_graph(g, {.threads = 1});
  check(of_graph, true);
  fg::dynamic_session of_any({.threads = 1});
  check(of_any, false);
}
