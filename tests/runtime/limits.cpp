// Steps that end before they are done: stopped, late, or waiting too long for others.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

std::stop_source* stopper = nullptr;
std::atomic<bool> inside{false}, breaks{false};

// Asks for the end of the step that it is part of, or fails.
void stop_here(fg::array_ref<const float> x, fg::array_ref<float> y) {
  if (stopper != nullptr) stopper->request_stop();
  if (breaks) throw std::runtime_error("broken");
  y[0] = x[0];
}
void linger(fg::array_ref<const float> x, fg::array_ref<float> y) {
  inside = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(x[0])));
  y[0] = x[0];
}

constexpr auto stoppable = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  auto before = g.variable<float>("before");
  auto after = g.variable<float>("after");
  auto first = assign_add(before, 1);
  auto middle = [&] {
    auto wait = g.control_dependencies(first);
    return g.name("middle", fg::host_call<"stop_here", &stop_here, fg::tensor<float>>(x));
  }();
  g.name("last", assign_add(after, g.name("twice", middle * 2.0f)));
});

constexpr auto slow = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  auto v = g.variable<float>("v");
  auto waited = g.name("waited", fg::host_call<"linger", &linger, fg::tensor<float>>(x));
  g.name("value", v + 1.0f);
  g.name("update", assign_add(v, waited + 0.0f));
});

constexpr auto heavy = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 1024, 1024>("x");
  auto y = tanh(x);
  for (int i = 0; i < 400; ++i) y = tanh(matmul(x, y));
  g.name("sum", reduce_sum(y));
});

}  // namespace

TEST_CASE("a stopped step ends between instructions, says where, and keeps the updates that were made") {
  for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
    fg::session<stoppable> s({.threads = 2, .inter_op = inter_op});
    std::stop_source source;
    stopper = &source;
    try {
      s.run<"last">(fg::limits{.stop = source.get_token()}, fg::feed<"x">(3.0f));
      FAIL("no exception");
    } catch (const fg::cancelled_error& e) {
      CHECK(e.why() == fg::problem::cancelled);
      CHECK(std::string(e.what()).find("\"last\" (mul+assign_add of ") == 0);
      CHECK(std::string(e.what()).find("limits.cpp:") != std::string::npos);
    }
    stopper = nullptr;
    CHECK(s.get<"before">() == 1);
    CHECK(s.get<"after">() == 0);
    s.run<"last">(fg::feed<"x">(3.0f));
    CHECK(s.get<"before">() == 2);
    CHECK(s.get<"after">() == 6);
  }
}

TEST_CASE("a step that fails keeps the updates that were made, and makes no more") {
  for (const auto updates : {fg::update_policy::consistent, fg::update_policy::overlapping}) {
    for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
      fg::session<stoppable> s({.threads = 2, .inter_op = inter_op, .updates = updates});
      breaks = true;
      CHECK_THROWS_AS(s.run<"last">(fg::feed<"x">(3.0f)), fg::execution_error);
      breaks = false;
      CHECK(s.get<"before">() == 1);
      CHECK(s.get<"after">() == 0);
      s.run<"last">(fg::feed<"x">(3.0f));
      CHECK(s.get<"after">() == 6);
    }
  }
}

TEST_CASE("a step that is stopped or late before it begins does nothing") {
  fg::session<stoppable> s({.threads = 1});
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(s.run<"last">(fg::limits{.stop = source.get_token()}, fg::feed<"x">(1.0f)), fg::cancelled_error);
  CHECK_THROWS_AS(s.run<"last">(fg::within(-1ms), fg::feed<"x">(1.0f)), fg::deadline_error);
  CHECK(s.get<"before">() == 0);
  s.run<"last">(fg::within(1h), fg::feed<"x">(1.0f));
  CHECK(s.get<"after">() == 2);
}

TEST_CASE("a deadline ends heavy kernels between their parts") {
  fg::ndarray<float, 1024, 1024> x;
  for (const int threads : {1, 2}) {
    fg::session<heavy> s({.threads = threads});
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(s.run<"sum">(fg::within(20ms), fg::feed<"x">(x)), fg::deadline_error);
    // All of it would take minutes in a build without optimisation.
    CHECK(std::chrono::steady_clock::now() - begin < 20s);
  }
}

TEST_CASE("a step that waits for another one's variables gives up in time") {
  fg::session<slow> s({.threads = 1});
  inside = false;
  std::thread other([&] { s.run<"update">(fg::feed<"x">(300.0f)); });
  while (!inside) std::this_thread::yield();
  CHECK_THROWS_AS(s.run<"value">(fg::within(20ms)), fg::deadline_error);                        // a reader
  CHECK_THROWS_AS(s.run<"update">(fg::within(20ms), fg::feed<"x">(1.0f)), fg::deadline_error);  // a writer
  std::stop_source source;
  std::thread stop([&] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
  });
  CHECK_THROWS_AS(s.run<"value">(fg::limits{.stop = source.get_token()}), fg::cancelled_error);
  stop.join();
  other.join();
  CHECK(s.run<"value">(fg::within(1min)) == 301);
}

TEST_CASE("a time that no clock reaches is no limit") {
  using clock = fg::limits::clock;
  static constexpr auto never = clock::time_point::max();
  CHECK(fg::within(clock::duration::max()).deadline == never);
  CHECK(fg::within(std::chrono::hours::max()).deadline == never);
  CHECK(fg::within(std::chrono::milliseconds::max()).deadline == never);
  CHECK(fg::within(std::chrono::duration<double>(1e300)).deadline == never);
  CHECK(fg::within(std::chrono::duration<float>(1e30f)).deadline == never);
  CHECK(fg::within(24h * 365).deadline > clock::now() + 24h * 364);
  for (const auto& past : {fg::within(clock::duration::min()), fg::within(std::chrono::hours::min()),
                           fg::within(std::chrono::duration<double>(-1e300)), fg::within(0ms)}) {
    CHECK(past.deadline <= clock::now());
    CHECK(past.deadline > clock::now() - 1h);
  }
  fg::session<slow> s({.threads = 1});
  s.run<"update">(fg::within(clock::duration::max()), fg::feed<"x">(1.0f));
  s.run<"update">(fg::limits{.deadline = never - 1ns}, fg::feed<"x">(1.0f));
  auto f = s.run_async<"update">(fg::within(std::chrono::hours::max()), fg::feed<"x">(1.0f));
  CHECK(f.wait_for(std::chrono::hours::max()));
  CHECK(f.wait_for(clock::duration::max()));
  f.get();
  auto quick = s.run_async<"update">(fg::limits{.deadline = never - 1ns}, fg::feed<"x">(1.0f));
  quick.wait_for(std::chrono::hours::min());
  quick.wait_for(std::chrono::duration<double>(-1e300));
  quick.get();
  CHECK(s.run<"value">() == 5);
}

TEST_CASE("a dynamic session takes limits anywhere among its arguments") {
  fg::graph g;
  auto x = g.placeholder<float>("x");
  auto y = fg::host_call<"linger", &linger, fg::tensor<float>>(x) + 1.0f;
  fg::dynamic_session s(g);
  CHECK_THROWS_AS(s.run(y, fg::feed(x, 50.0f), fg::within(5ms)), fg::deadline_error);
  CHECK(s.run(fg::within(1min), y, fg::feed(x, 1.0f)) == 2);
}
