// Steps without a thread of their own, and what steps that wait for each other share.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

std::atomic<int> inside{0}, together{0};

// How many are here at the same time.
void enter(fg::array_ref<const float> x) {
  const int now = ++inside;
  int most = together;
  while (now > most && !together.compare_exchange_weak(most, now)) {
  }
  std::this_thread::sleep_for(1ms);
  --inside;
  if (x[0] < 0) throw std::runtime_error("broken");
}

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 8);
  g.name("put", q.enqueue(x));
  g.name("get", q.dequeue());
  g.name("close", q.close());
  auto w = g.variable<float>("w");
  g.name("add", assign_add(w, q.dequeue()));
  g.name("twice", x * 2.0f);

  auto m = fg::mutex(g, "m");
  {
    auto held = m.acquire();
    auto after_held = g.control_dependencies(held);
    auto work = fg::host_call<"enter", &enter>(x);
    g.name("left_open", work);
    auto after_work = g.control_dependencies(work);
    g.name("exclusive", m.release());
  }
  g.name("release_alone", m.release());
  {
    auto first = m.acquire();
    auto after = g.control_dependencies(first);
    g.name("acquire_twice", m.acquire());
  }
  g.name("meet", fg::barrier(g, "b", 3).arrive());
  auto count = g.variable<std::int32_t>("count");
  g.name("next", fg::count_up_to(count, 5));
});
using session = fg::session<model>;

}  // namespace

TEST_CASE("run_async gives what run gives, and what it throws") {
  session s({.threads = 2});
  fg::future<float> f = [&] {
    float gone = 21;
    return s.run_async<"twice">(fg::feed<"x">(gone));  // a copy: the caller's may be gone
  }();
  f.wait();
  CHECK(f.ready());
  CHECK(f.get() == 42);
  CHECK(!f.valid());
  fg::future<void> put = s.run_async<"put">(fg::feed<"x">(1.0f));
  put.get();
  CHECK(s.run<"get">() == 1);
  s.run<"close">();
  CHECK_THROWS_AS(s.run_async<"get">().get(), fg::end_of_input);
  CHECK_THROWS_AS(s.run_async<"put">(fg::feed<"x">(1.0f)).get(), fg::closed_error);
}

TEST_CASE("100 steps wait at the same time, and two threads serve them and those they wait for") {
  Eigen::ThreadPool pool(2);
  session s({.threads = 3, .pool = &pool});
  for (int round = 0; round < 20; ++round) {
    std::vector<fg::future<float>> waiting;
    for (int i = 0; i < 100; ++i) waiting.push_back(s.run_async<"get">());
    CHECK(!waiting.front().ready());
    std::vector<fg::future<void>> putting;
    for (int i = 0; i < 100; ++i) putting.push_back(s.run_async<"put">(fg::feed<"x">(static_cast<float>(i))));
    float sum = 0;
    for (auto& f : waiting) sum += f.get();
    for (auto& f : putting) f.get();
    CHECK(sum == 4950);
  }
  // The other way round: 92 of these wait for room.
  std::vector<fg::future<void>> putting;
  for (int i = 0; i < 100; ++i) putting.push_back(s.run_async<"put">(fg::feed<"x">(1.0f)));
  for (int i = 0; i < 100; ++i) CHECK(s.run_async<"get">().get() == 1);
  for (auto& f : putting) f.get();
}

TEST_CASE("100 callers wait at the same time, and the session's threads are free") {
  session s({.threads = 2, .inter_op = fg::inter_op_policy::parallel});
  std::atomic<int> sum{0};
  std::vector<std::jthread> callers;
  for (int i = 0; i < 100; ++i) callers.emplace_back([&] { sum += static_cast<int>(s.run<"get">()); });
  for (int i = 0; i < 100; ++i) s.run<"put">(fg::within(10s), fg::feed<"x">(static_cast<float>(i)));
  callers.clear();
  CHECK(sum == 4950);
}

TEST_CASE("a graph that is built at run time has asynchronous steps, too, and a session of one thread") {
  fg::graph g;
  auto x = g.placeholder<float>("x");
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 1);
  auto put = q.enqueue(x);
  auto got = q.dequeue();
  fg::dynamic_session s(g, {.threads = 1});
  fg::future<float> f = s.run_async(got);
  s.run(put, fg::feed(x, 5.0f));
  CHECK(f.get() == 5);
}

TEST_CASE("steps that wait without a thread end when their limits say so") {
  session s({.threads = 2});
  fg::future<float> late = s.run_async<"get">(fg::within(10ms));
  std::stop_source stop;
  fg::future<float> stopped = s.run_async<"get">(fg::limits{.stop = stop.get_token()});
  fg::future<float> patient = s.run_async<"get">(fg::within(20s));
  CHECK_THROWS_AS(late.get(), fg::deadline_error);
  CHECK(!stopped.ready());
  stop.request_stop();
  CHECK_THROWS_AS(stopped.get(), fg::cancelled_error);
  CHECK_THROWS_AS(s.run_async<"get">(fg::limits{.stop = stop.get_token()}).get(), fg::cancelled_error);
  s.run<"put">(fg::feed<"x">(1.0f));
  CHECK(patient.get() == 1);
}

TEST_CASE("a session that ends takes its waiting steps with it") {
  fg::future<float> waiting;
  fg::future<void> adding;
  {
    session s({.threads = 2});
    waiting = s.run_async<"get">();
    adding = s.run_async<"add">();
    std::this_thread::sleep_for(5ms);
  }
  try {
    waiting.get();
    FAIL("no error");
  } catch (const fg::cancelled_error& e) {
    CHECK(e.why() == fg::problem::session_ended);
  }
  CHECK_THROWS_AS(adding.get(), fg::cancelled_error);
}

TEST_CASE("asynchronous steps that change one variable lose nothing") {
  for (const auto policy : {fg::update_policy::consistent, fg::update_policy::overlapping}) {
    session s({.threads = 2, .updates = policy});
    std::vector<fg::future<void>> all;
    for (int i = 0; i < 50; ++i) all.push_back(s.run_async<"add">());
    for (int i = 0; i < 50; ++i) all.push_back(s.run_async<"put">(fg::feed<"x">(1.0f)));
    for (auto& f : all) f.get();
    CHECK(s.get<"w">() == 50);
  }
}

TEST_CASE("mutex: one step at a time, and one that dies lets it go") {
  session s({.threads = 2});
  together = 0;
  std::vector<fg::future<void>> all;
  for (int i = 0; i < 20; ++i) all.push_back(s.run_async<"exclusive">(fg::feed<"x">(i % 3 == 0 ? -1.0f : 1.0f)));
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back([&] { s.run<"exclusive">(fg::feed<"x">(1.0f)); });
  callers.clear();
  int died = 0;
  for (auto& f : all) {
    try {
      f.get();
    } catch (const fg::execution_error&) {
      ++died;
    }
  }
  CHECK(died == 7);
  CHECK(together == 1);
  s.run<"left_open">(fg::feed<"x">(1.0f));  // the end of the step is the end of its hold
  fg::mutex_handle m = s.mutex<"m">();
  CHECK(m.try_lock());
  m.unlock();
}

TEST_CASE("mutex: mistakes are errors, and waiting ends with the limits") {
  session s;
  CHECK_THROWS_AS(s.run<"release_alone">(), fg::execution_error);
  CHECK_THROWS_AS(s.run<"acquire_twice">(), fg::execution_error);
  fg::mutex_handle m = s.mutex<"m">(), other = s.mutex<"m">();
  {
    const std::lock_guard lock(m);
    CHECK(!other.try_lock());
    CHECK_THROWS_AS(other.unlock(), fg::argument_error);
    CHECK_THROWS_AS(other.lock(fg::within(2ms)), fg::deadline_error);
    CHECK_THROWS_AS(s.run<"exclusive">(fg::within(2ms), fg::feed<"x">(1.0f)), fg::deadline_error);
    CHECK_THROWS_AS(s.run_async<"exclusive">(fg::within(2ms), fg::feed<"x">(1.0f)).get(), fg::deadline_error);
  }
  s.run<"exclusive">(fg::within(5s), fg::feed<"x">(1.0f));
}

TEST_CASE("barrier: all go on when the last has come; who gives up does not count") {
  session s({.threads = 2});
  for (int round = 0; round < 3; ++round) {
    fg::future<void> a = s.run_async<"meet">();
    CHECK_THROWS_AS(s.run<"meet">(fg::within(2ms)), fg::deadline_error);
    fg::future<void> b = s.run_async<"meet">();
    CHECK(!a.wait_for(5ms));
    CHECK(!b.ready());
    s.barrier<"b">().arrive(fg::within(10s));
    a.get();
    b.get();
  }
}

TEST_CASE("count_up_to gives each number once, then the end of the input") {
  for (const auto policy :
       {fg::update_policy::consistent, fg::update_policy::overlapping, fg::update_policy::lock_free}) {
    session s({.threads = 2, .updates = policy});
    std::multiset<std::int32_t> numbers;
    int ended = 0;
    std::vector<fg::future<std::int32_t>> all;
    for (int i = 0; i < 8; ++i) all.push_back(s.run_async<"next">());
    for (auto& f : all) {
      try {
        numbers.insert(f.get());
      } catch (const fg::end_of_input&) {
        ++ended;
      }
    }
    CHECK(numbers == std::multiset<std::int32_t>{0, 1, 2, 3, 4});
    CHECK(ended == 3);
    CHECK(s.get<"count">() == 5);
  }
}
