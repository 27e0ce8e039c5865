// Who waits for whom, and on which thread a step goes on: executors that run tasks in the call or take none, steps that
// wait for variables without a thread, waits that are given up by two at once or by thousands.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/engine/resources/queue.hpp>
#include <flowgraph/engine/resources/synchronize.hpp>
#include <flowgraph/engine/threads/timer.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

std::atomic<bool> holding{false}, let_go{false};
thread_local int steps_here = 0;  // user's functions of steps that this thread is in
std::atomic<int> most_here{0};

void hold(fg::array_ref<const float>) {
  holding = true;
  while (!let_go) std::this_thread::sleep_for(1ms);
}
// Puts into a queue from within a step, as a user's function may: whoever is woken must not run in here.
std::function<void()> from_within;
void call_out(fg::array_ref<const float> x, fg::array_ref<float> y) {
  ++steps_here;
  for (int most = most_here; steps_here > most && !most_here.compare_exchange_weak(most, steps_here);) {
  }
  if (x[0] > 0 && from_within) from_within();
  y[0] = x[0];
  --steps_here;
}

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 1000);
  auto w = g.variable<float>("w");
  g.name("put", q.enqueue(x));
  g.name("get", q.dequeue());
  g.name("twice", x * 2.0f);
  g.name("add_x", assign_add(w, x));
  // Waits for an element, then wants w.
  g.name("add", assign_add(w, q.dequeue()));
  {  // has w while it wakes who waits for an element
    auto changed = assign_add(w, x);
    auto after = g.control_dependencies(changed);
    g.name("put_holding", q.enqueue(x));
  }
  {
    auto changed = assign_add(w, x);
    auto after = g.control_dependencies(changed);
    g.name("hold", fg::host_call<"hold", &hold>(x));
  }
  {
    auto changed = assign_add(w, x);
    auto after = g.control_dependencies(changed);
    g.name("call_out", fg::host_call<"call_out", &call_out, fg::tensor<float>>(x));
  }
  g.name("add_out", assign_add(w, fg::host_call<"call_out", &call_out, fg::tensor<float>>(-q.dequeue())));
});
using session = fg::session<model>;

// One thread that runs tasks in turn, until it is closed.
class one_thread {
 public:
  ~one_thread() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }

 private:
  void work() {
    for (std::unique_lock lock(mutex_); true;) {
      changed_.wait(lock, [this] { return done_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool done_ = false;
  std::thread thread_{[this] { work(); }};
};

struct executor_kind {
  const char* name;
  std::function<void(std::function<void()>)> schedule;
};
// All that the pages allow.
std::vector<executor_kind> executors(one_thread& other) {
  const auto turn = std::make_shared<std::atomic<int>>(0);
  return {{"another thread", [&other](std::function<void()> task) { other.post(std::move(task)); }},
          {"in the call", [](const std::function<void()>& task) { task(); }},
          {"takes none", [](const std::function<void()>&) { throw std::runtime_error("the executor is closed"); }},
          {"now and then",
           [&other, turn](std::function<void()> task) {
             switch ((*turn)++ % 3) {
               case 0:
                 return other.post(std::move(task));
               case 1:
                 return task();
               default:
                 throw std::runtime_error("the executor is full");
             }
           }},
          {"in the call, after others of its own", [&other, turn](const std::function<void()>& task) {
             other.post([] {});
             task();
           }}};
}

class counting final : public fg::detail::waiter {
 public:
  void wake() noexcept override { ++woken; }
  int woken = 0;
};

// fifo_queue<float>(capacity)
std::vector<std::int64_t> queue_words(std::int64_t capacity) {
  return {0, capacity, 0, 0, 1, static_cast<std::int64_t>(fg::dtype::float32), 0};
}

double seconds_of(const std::function<void()>& work) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

TEST_CASE("of several who give up a wait, one is told that it never comes") {
  using fg::detail::taking;
  const auto words = queue_words(1);
  fg::detail::queue_resource q("q", words.data(), 0);
  counting w;
  fg::detail::queue_resource::getting get(q, taking::one, false);
  CHECK(!get.begin(1, w));
  CHECK(get.cancel());
  CHECK(!get.cancel());

  const float one = 1;
  const fg::array_view in{const_cast<float*>(&one), nullptr, 0, fg::dtype::float32};
  fg::detail::queue_resource::putting first(q, false, false), second(q, false, false);
  CHECK(first.begin(&in, 1, w));
  CHECK(!second.begin(&in, 1, w));
  CHECK(second.cancel());
  CHECK(!second.cancel());
  CHECK(q.size() == 1);
  CHECK(!get.cancel());  // not begun again
  CHECK(get.begin(1, w));
  CHECK(!get.cancel());

  fg::detail::mutex_resource m("m");
  int a = 0, b = 0;
  fg::detail::mutex_resource::acquiring has(m, &a), waits(m, &b);
  CHECK(has.begin({}, w));
  CHECK(!waits.begin({}, w));
  CHECK(waits.cancel());
  CHECK(!waits.cancel());
  CHECK(!has.cancel());
  m.release(&a);

  fg::detail::barrier_resource all(2);
  fg::detail::barrier_resource::arriving arrives(all);
  CHECK(!arrives.begin({}, w));
  CHECK(arrives.cancel());
  CHECK(!arrives.cancel());
  CHECK(w.woken == 0);
}

TEST_CASE("a deadline and a stop at the same moment end a step once") {
  session s({.threads = 2});
  for (int round = 0; round < 100; ++round) {
    std::stop_source stop;
    const auto at = std::chrono::steady_clock::now() + 500us;
    std::vector<fg::future<float>> all;
    for (int i = 0; i < 4; ++i) all.push_back(s.run_async<"get">(fg::limits{.stop = stop.get_token(), .deadline = at}));
    std::this_thread::sleep_until(at);
    stop.request_stop();
    for (auto& f : all) {
      try {
        f.get();
        FAIL("there is nothing to get");
      } catch (const fg::deadline_error&) {
      } catch (const fg::cancelled_error&) {
      }
    }
  }
  s.run<"put">(fg::feed<"x">(1.0f));
  CHECK(s.run<"get">(fg::within(5s)) == 1);
}

TEST_CASE("whoever is woken runs when the thread is in the middle of nothing else, whatever the executor does") {
  one_thread other;
  for (const executor_kind& kind : executors(other))
    for (const auto policy : {fg::update_policy::consistent, fg::update_policy::overlapping}) {
      INFO(kind.name);
      session s({.threads = 2, .updates = policy, .schedule = kind.schedule});
      CHECK(s.run_async<"twice">(fg::feed<"x">(21.0f)).get() == 42);
      std::vector<fg::future<void>> adding;
      for (int i = 0; i < 10; ++i) adding.push_back(s.run_async<"add">(fg::within(5s)));
      for (int i = 0; i < 10; ++i) s.run<"put_holding">(fg::within(5s), fg::feed<"x">(1.0f));
      for (auto& f : adding) CHECK_NOTHROW(f.get());
      CHECK(s.get<"w">() == 20);
      // Woken from C++, by a limit, and by the end of the session.
      fg::future<float> got = s.run_async<"get">(), late = s.run_async<"get">(fg::within(2ms));
      CHECK_THROWS_AS(late.get(), fg::deadline_error);
      s.queue<"q">().enqueue(7.0f);
      CHECK(got.get() == 7);
      std::stop_source stop;
      fg::future<float> stopped = s.run_async<"get">(fg::limits{.stop = stop.get_token()});
      stop.request_stop();
      CHECK_THROWS_AS(stopped.get(), fg::cancelled_error);
      fg::future<float> left = s.run_async<"get">();
      { const session gone = std::move(s); }
      CHECK_THROWS_AS(left.get(), fg::cancelled_error);
    }
}

TEST_CASE("a user's function that wakes a step is not interrupted by it") {
  one_thread other;
  for (const executor_kind& kind : executors(other)) {
    INFO(kind.name);
    session s({.threads = 2, .schedule = kind.schedule});
    most_here = 0;
    fg::future<void> adding = s.run_async<"add_out">(fg::within(5s));
    from_within = [&] { s.queue<"q">().enqueue(3.0f); };
    s.run<"call_out">(fg::within(5s), fg::feed<"x">(1.0f));  // has w, and wakes the other, which wants it
    from_within = nullptr;
    CHECK_NOTHROW(adding.get());
    CHECK(s.get<"w">() == -2);
    CHECK(most_here == 1);
  }
}

TEST_CASE("a step that waits runs what was left to its thread") {
  // The caller waits for an element that only a step can put which runs on this very thread.
  session s({.threads = 2, .schedule = [](const std::function<void()>& task) { task(); }});
  fg::future<void> adding = s.run_async<"add">();
  std::thread putter([&] { s.run<"put_holding">(fg::feed<"x">(1.0f)); });
  putter.join();
  adding.get();
  CHECK(s.get<"w">() == 2);
}

TEST_CASE("steps that wait for variables have no thread") {
  session s({.threads = 2});
  holding = let_go = false;
  std::thread holder([&] { s.run<"hold">(fg::feed<"x">(0.0f)); });
  while (!holding) std::this_thread::yield();
  std::vector<fg::future<void>> adding;
  for (int i = 0; i < 10; ++i) adding.push_back(s.run_async<"add_x">(fg::feed<"x">(1.0f)));
  for (int i = 0; i < 10; ++i) adding.push_back(s.run_async<"add">());  // has waited for an element before
  for (int i = 0; i < 10; ++i) s.queue<"q">().enqueue(1.0f);
  fg::future<float> twice = s.run_async<"twice">(fg::feed<"x">(2.0f));
  CHECK(twice.wait_for(5s));
  // One that is given up leaves the others in line.
  CHECK_THROWS_AS(s.run_async<"add_x">(fg::within(2ms), fg::feed<"x">(1.0f)).get(), fg::deadline_error);
  std::stop_source stop;
  fg::future<void> stopped = s.run_async<"add_x">(fg::limits{.stop = stop.get_token()}, fg::feed<"x">(1.0f));
  CHECK(!stopped.wait_for(2ms));
  stop.request_stop();
  CHECK_THROWS_AS(stopped.get(), fg::cancelled_error);
  let_go = true;
  holder.join();
  for (auto& f : adding) f.get();
  CHECK(s.get<"w">() == 20);
}

TEST_CASE("consistent: a step lets its variables go wherever it waits, and has them in between") {
  static constexpr auto twice_waiting = fg::define([](fg::graph& g) {
    auto w = g.variable<float>("w");
    auto first = fg::fifo_queue<fg::tensor<float>>(g, "first", 8),
         second = fg::fifo_queue<fg::tensor<float>>(g, "second", 8);
    auto seen = fg::fifo_queue<fg::tensor<float>>(g, "seen", 8);
    g.name("add", assign_add(w, g.placeholder<float>("x")));
    const auto look = [&](const auto& behind) {
      auto after = g.control_dependencies(behind);
      return seen.enqueue(fg::host_call<"call_out", &call_out, fg::tensor<float>>(w));
    };
    auto a = look(assign_add(w, g.constant(1.0f)));
    auto b = [&] {
      auto after = g.control_dependencies(a);
      return look(first.dequeue());
    }();
    auto c = [&] {
      auto after = g.control_dependencies(b);
      return assign_add(w, g.constant(1.0f));
    }();
    auto d = [&] {
      auto after = g.control_dependencies(c);
      return look(second.dequeue());
    }();
    g.name("two_waits", d);
  });
  for (const bool waits : {true, false}) {
    fg::session<twice_waiting> s({.threads = 2});
    const auto first = s.queue<"first">(), second = s.queue<"second">(), seen = s.queue<"seen">();
    if (!waits) first.enqueue(1.0f), second.enqueue(1.0f);
    fg::future<void> step = s.run_async<"two_waits">();
    CHECK(seen.dequeue(fg::within(5s)) == 1);
    if (waits) {
      s.run<"add">(fg::within(5s), fg::feed<"x">(10.0f));
      first.enqueue(1.0f);
      CHECK(seen.dequeue(fg::within(5s)) == 11);
      s.run<"add">(fg::within(5s), fg::feed<"x">(100.0f));  // comes when the step waits again, which has added 1
      second.enqueue(1.0f);
      CHECK(seen.dequeue(fg::within(5s)) == 112);
    } else {
      CHECK(seen.dequeue(fg::within(5s)) == 1);
      CHECK(seen.dequeue(fg::within(5s)) == 2);
    }
    step.get();
  }
}

TEST_CASE("a session that ends while its steps wait for a variable") {
  fg::future<void> waiting;
  std::thread holder;
  {
    session s({.threads = 2});
    holding = let_go = false;
    holder = std::thread([&] { s.run<"hold">(fg::feed<"x">(0.0f)); });
    while (!holding) std::this_thread::yield();
    waiting = s.run_async<"add_x">(fg::feed<"x">(1.0f));
    CHECK(!waiting.wait_for(5ms));
    let_go = true;
    holder.join();
  }
  try {
    waiting.get();
  } catch (const fg::cancelled_error& e) {
    CHECK(e.why() == fg::problem::session_ended);
  }
}

TEST_CASE("alarms ring in the order of their times, and not when they are forgotten") {
  struct bell final : fg::detail::timer::alarm {
    void ring() noexcept override { order->push_back(this); }
    std::vector<bell*>* order = nullptr;
  };
  std::vector<bell*> order, expected;
  std::vector<bell> all(200);
  const auto now = fg::detail::timer::clock::now();
  {
    fg::detail::timer t;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].order = &order;
      t.reserve();
      t.set(now + 20ms + 100us * (i * 7 % 200), all[i]);
    }
    for (std::size_t i = 0; i < all.size(); i += 3) t.forget(all[i]);
    std::this_thread::sleep_until(now + 60ms);
    for (bell& b : all) t.forget(b);
  }
  for (std::size_t k = 0; k < all.size(); ++k)
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i * 7 % 200 == k && i % 3 != 0) expected.push_back(&all[i]);
  CHECK(order == expected);
}

TEST_CASE("a thousand waits that are given up take a thousand times one") {
  const auto words = queue_words(1);
  const auto give_up = [&](std::size_t n) {
    return seconds_of([&, n] {
      fg::detail::queue_resource q("q", words.data(), 0);
      counting w;
      std::vector<std::unique_ptr<fg::detail::queue_resource::getting>> all;
      for (std::size_t i = 0; i < n; ++i) {
        all.push_back(std::make_unique<fg::detail::queue_resource::getting>(q, fg::detail::taking::one, false));
        all.back()->begin(1, w);
      }
      for (; !all.empty(); all.pop_back()) all.back()->cancel();
    });
  };
  give_up(1000);
  CHECK(give_up(32'000) < 200 * give_up(1'000));  // were each looked for, it would be 1,000 times as long
  struct bell final : fg::detail::timer::alarm {
    void ring() noexcept override {}
  };
  const auto forget = [&](std::size_t n) {
    return seconds_of([n] {
      fg::detail::timer t;
      std::vector<bell> all(n);
      const auto at = fg::detail::timer::clock::now() + 1h;
      for (std::size_t i = 0; i < n; ++i) {
        t.reserve();
        t.set(at + 1us * i, all[i]);
      }
      for (std::size_t i = n; i > 0; --i) t.forget(all[i - 1]);
    });
  };
  forget(1000);
  CHECK(forget(32'000) < 200 * forget(1'000));
}
