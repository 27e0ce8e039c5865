// A step waits for any number of things at once, and goes on with what does not need them: beside each other, within
// loops, and on several devices. Whatever ends it ends all of it.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/language/on_devices.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

std::atomic<int> seen{0};
void note_that_it_ran(fg::array_ref<const float>) { ++seen; }

bool soon(const auto& condition) {
  for (int i = 0; i < 5000; ++i, std::this_thread::sleep_for(1ms))
    if (condition()) return true;
  return false;
}

constexpr auto waits = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  auto n = g.placeholder<std::int32_t>("n");
  auto a = fg::fifo_queue<fg::tensor<float>>(g, "a", 100), b = fg::fifo_queue<fg::tensor<float>>(g, "b", 100);
  g.name("put_a", a.enqueue(x)), g.name("put_b", b.enqueue(x));
  g.name("size_a", a.size()), g.name("size_b", b.size());
  g.name("both", a.dequeue() + 10.f * b.dequeue());
  g.name("beside", a.dequeue() + 0.f), g.name("seen", fg::host_call<"note_that_it_ran", &note_that_it_ran>(x * 2.f));
  const auto drain = [&](auto& q, bool looks) {
    return std::get<1>(fg::while_loop([&](auto i, auto) { return i < n; },
                                      [&](auto i, auto sum) {
                                        if (looks)
                                          fg::host_call<"note_that_it_ran", &note_that_it_ran>(cast<float>(i) * 2.f);
                                        return std::tuple(i + 1, sum + q.dequeue());
                                      },
                                      g.constant<std::int32_t>(0), g.constant(0.f)));
  };
  g.name("looks", drain(a, true));
  g.name("sum_a", drain(a, false)), g.name("sum_b", drain(b, false));
  // Each in a loop of its own, within a loop.
  g.name("nested", std::get<1>(fg::while_loop(
                       [&](auto i, auto) { return i < n; },
                       [&](auto i, auto sum) { return std::tuple(i + 1, sum + drain(a, false) - drain(b, false)); },
                       g.constant<std::int32_t>(0), g.constant(0.f))));
  g.name("chosen", fg::cond(
                       x > 0.f, [&] { return a.dequeue() + b.dequeue(); }, [&] { return x; }));
});
using session = fg::session<waits>;

void put_a(session& s, float x) { s.run<"put_a">(fg::feed<"x">(x)); }
void put_b(session& s, float x) { s.run<"put_b">(fg::feed<"x">(x)); }

}  // namespace

TEST_CASE("two dequeues wait at once, and come in any order") {
  for (const int threads : {1, 2}) {
    session s({.threads = threads});
    auto both = s.run_async<"both">();
    put_b(s, 3);  // is taken though the other queue is empty
    CHECK(soon([&] { return s.run<"size_b">() == 0; }));
    put_a(s, 4);
    CHECK(both.get() == 34);
  }
}

TEST_CASE("what does not need what is waited for runs meanwhile, within loops, too") {
  for (const int threads : {1, 2}) {
    session s({.threads = threads});
    seen = 0;
    auto beside = s.run_async<"beside", "seen">(fg::feed<"x">(1.f));
    CHECK(soon([] { return seen == 1; }));
    put_a(s, 5);
    CHECK(beside.get() == 5);

    seen = 0;
    auto looks = s.run_async<"looks">(fg::feed<"n">(2));
    CHECK(soon([] { return seen == 1; }));  // beside the first turn's dequeue
    put_a(s, 1);
    CHECK(soon([] { return seen == 2; }));
    put_a(s, 2);
    CHECK(looks.get() == 3);
  }
}

TEST_CASE("loops without data between them run side by side") {
  for (const int threads : {1, 2}) {
    session s({.threads = threads});
    auto sums = s.run_async<"sum_a", "sum_b">(fg::feed<"n">(3));
    for (int i = 1; i <= 3; ++i) put_b(s, static_cast<float>(i));
    CHECK(soon([&] { return s.run<"size_b">() == 0; }));
    for (int i = 1; i <= 3; ++i) put_a(s, static_cast<float>(10 * i));
    CHECK(sums.get() == std::tuple(60.f, 6.f));

    auto nested = s.run_async<"nested">(fg::feed<"n">(2));
    for (int i = 0; i < 4; ++i) put_b(s, 1);
    for (int i = 0; i < 4; ++i) put_a(s, 3);
    CHECK(nested.get() == 8);
    auto chosen = s.run_async<"chosen">(fg::feed<"x">(1.f));
    put_b(s, 1), put_a(s, 2);
    CHECK(chosen.get() == 3);
    CHECK(s.run<"chosen">(fg::feed<"x">(-1.f)) == -1);
  }
}

TEST_CASE("a step that waits for several things ends with all of them") {
  for (const int threads : {1, 2}) {
    session s({.threads = threads});
    try {
      s.run<"both">(fg::within(5ms));
      CHECK(false);
    } catch (const fg::deadline_error& e) {
      CHECK(std::string(e.what()).find("dequeue") != std::string::npos);
    }
    std::stop_source stop;
    auto sums = s.run_async<"sum_a", "sum_b">(fg::limits{.stop = stop.get_token()}, fg::feed<"n">(3));
    put_b(s, 7);
    stop.request_stop();
    CHECK_THROWS_AS(sums.get(), fg::cancelled_error);
    put_a(s, 1), put_b(s, 2);  // nobody stands in line any more
    auto both = s.run<"both">();
    CHECK((both == 21 || both == 71));
    s.queue<"a">().close();
    CHECK_THROWS_AS(s.run<"both">(), fg::end_of_input);
    CHECK_THROWS_AS((s.run<"sum_a", "sum_b">(fg::feed<"n">(1))), fg::end_of_input);
  }
}

namespace {

std::atomic<int> fails_in{-1};
void break_in_turns(fg::array_ref<const float> x, fg::array_ref<float> y) {
  if (fails_in.fetch_sub(1) == 0) throw std::runtime_error("broken here");
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
}

// Two towers that exchange what they have in each turn, on one device each, with a variable that each changes.
template <bool Spread>
struct build_towers {
  constexpr void operator()(fg::graph& g) const {
    auto n = g.placeholder<std::int32_t>("n");
    auto x = g.placeholder<float, 8>("x");
    const auto on_first = [&] {
      if constexpr (Spread)
        return g.device("/cpu:0");
      else
        return 0;
    };
    const auto on_second = [&] {
      if constexpr (Spread)
        return g.device("/cpu:1");
      else
        return 0;
    };
    auto w1 = [&] {
      [[maybe_unused]] auto there = on_first();
      return g.variable<float, 8, 8>("w1", fg::init::glorot_uniform());
    }();
    auto w2 = [&] {
      [[maybe_unused]] auto there = on_second();
      return g.variable<float, 8, 8>("w2", fg::init::glorot_uniform());
    }();
    const auto row = [](auto v) { return fg::reshape<1, 8>(v); };
    auto [turns, left, right] =
        fg::while_loop([&](auto i, auto, auto) { return i < n; },
                       [&](auto i, auto a, auto b) {
                         auto next_a = [&] {
                           [[maybe_unused]] auto there = on_first();
                           return fg::host_call<"break_in_turns", &break_in_turns, fg::tensor<float, 8>>(
                               tanh(fg::reshape<8>(matmul(row(a + 0.5f * b), w1))));
                         }();
                         auto next_b = [&] {
                           [[maybe_unused]] auto there = on_second();
                           return tanh(fg::reshape<8>(matmul(row(b - 0.25f * a), w2)));
                         }();
                         return std::tuple(i + 1, next_a, next_b);
                       },
                       g.constant<std::int32_t>(0), x, x * 2.f);
    g.name("turns", turns);
    g.name("left", left), g.name("right", right);
    {
      [[maybe_unused]] auto there = on_second();
      g.name("train", fg::group(assign_add(w1, matmul(fg::reshape<8, 1>(left), row(left)) * 0.01f),
                                assign_add(w2, matmul(fg::reshape<8, 1>(right), row(right)) * 0.01f)));
    }
  }
};
constexpr auto towers_one = fg::define(build_towers<false>{});
constexpr auto towers_spread = fg::define(build_towers<true>{});
constexpr const auto& towers = fg::on_devices<towers_spread, "/cpu:0", "/cpu:1">;

}  // namespace

TEST_CASE("each device runs its own part of a loop: the numbers of one device, however it is run") {
  const fg::ndarray<float, 8> x{0.5f, -0.25f, 1, 2, -3, 0.125f, 0.75f, 1.5f};
  fails_in = -1;
  for (const int threads : {1, 2, 3})
    for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
      fg::session<towers_one> one({.threads = 1, .seed = 5});
      fg::session<towers> two({.threads = threads, .seed = 5, .serial_below = 0, .inter_op = inter_op});
      for (const std::int32_t n : {0, 1, 2, 9, 50}) {
        CHECK(two.run<"left", "right", "train">(fg::feed<"n">(n), fg::feed<"x">(x)) ==
              one.run<"left", "right", "train">(fg::feed<"n">(n), fg::feed<"x">(x)));
        CHECK(two.run_async<"turns">(fg::feed<"n">(n), fg::feed<"x">(x)).get() == n);
      }
      CHECK(two.get<"w1">() == one.get<"w1">());
      CHECK(two.get<"w2">() == one.get<"w2">());
    }
}

TEST_CASE("an error, a deadline or a stop on one device ends the step on all, with nothing changed") {
  const char* asked = std::getenv("FLOWGRAPH_ENDURANCE_STEPS");
  const int steps = asked != nullptr ? std::atoi(asked) : 300;
  const fg::ndarray<float, 8> x{0.5f, -0.25f, 1, 2, -3, 0.125f, 0.75f, 1.5f};
  fg::session<towers_one> one({.threads = 1, .seed = 5});
  std::mt19937 random(7);
  for (const auto policy : {fg::update_policy::consistent, fg::update_policy::overlapping}) {
    fg::session<towers> two(
        {.threads = 2, .seed = 5, .serial_below = 0, .inter_op = fg::inter_op_policy::parallel, .updates = policy});
    const auto before = two.get<"w1">();
    int failed = 0, ended = 0, done = 0;
    for (int i = 0; i < steps; ++i) {
      std::stop_source stop;
      fails_in = random() % 3 == 0 ? static_cast<int>(random() % 40) : -1;
      fg::limits l{.stop = stop.get_token()};
      if (random() % 3 == 0) l = fg::within(std::chrono::microseconds(random() % 400), stop.get_token());
      const bool stops = random() % 3 == 0;
      try {
        if (random() % 2 == 0) {
          auto f = two.run_async<"left">(l, fg::feed<"n">(30), fg::feed<"x">(x));
          if (stops) stop.request_stop();
          f.get();
        } else {
          std::jthread stopper([&] {
            if (stops) stop.request_stop();
          });
          two.run<"left">(l, fg::feed<"n">(30), fg::feed<"x">(x));
        }
        ++done;
      } catch (const fg::deadline_error&) {
        ++ended;
      } catch (const fg::cancelled_error&) {
        ++ended;
      } catch (const fg::execution_error& e) {
        CHECK(std::string(e.what()).find("broken here") != std::string::npos);
        ++failed;
      }
    }
    CHECK(failed > 0);
    CHECK(ended > 0);
    CHECK(done > 0);
    fails_in = 20;
    CHECK_THROWS_AS((two.run<"train">(fg::feed<"n">(30), fg::feed<"x">(x))), fg::execution_error);
    fails_in = -1;
    CHECK(two.get<"w1">() == before);
    CHECK(two.run<"left">(fg::feed<"n">(30), fg::feed<"x">(x)) == one.run<"left">(fg::feed<"n">(30), fg::feed<"x">(x)));
  }
}
