// Which threads a session uses: none that it was not given, and those of the application where it lends them.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <flowgraph/define.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

#ifdef __linux__
#include <dirent.h>
#endif

namespace fg = flowgraph;

namespace {

std::mutex seen_mutex;
std::set<std::thread::id> seen;
std::atomic<int> at_once{0}, most_at_once{0};

void note(fg::array_ref<const float> x, fg::array_ref<float> y) {
  const int now = ++at_once;
  for (int most = most_at_once; now > most && !most_at_once.compare_exchange_weak(most, now);) {
  }
  {
    const std::lock_guard lock(seen_mutex);
    seen.insert(std::this_thread::get_id());
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  y[0] = x[0];
  --at_once;
}

// Work that is worth spreading, in chains side by side.
constexpr auto work = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 128, 1024>("x");
  auto sum = reduce_sum(x);
  for (int i = 0; i < 4; ++i) {
    auto y = tanh(x * static_cast<float>(i + 1));
    sum = sum + reduce_sum(y * reduce_max<1>(y, fg::keepdims));
  }
  g.name("sum", sum);
});

// One thread that runs tasks in turn.
class application {
 public:
  application()
      : thread_([this] {
          for (std::unique_lock lock(mutex_); true;) {
            changed_.wait(lock, [this] { return done_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            const std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            lock.lock();
          }
        }) {}
  ~application() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    ++posted;
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  std::atomic<int> posted{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool done_ = false;
  std::thread thread_;
};

int threads_of_process() {
#ifdef __linux__
  int n = 0;
  DIR* d = opendir("/proc/self/task");
  if (d == nullptr) return -1;
  while (const dirent* e = readdir(d)) n += e->d_name[0] != '.';
  closedir(d);
  return n;
#else
  return -1;
#endif
}

// The count before a test: what earlier ones had is gone, and a sanitizer's own thread, which comes with the first one
// of the program, is there.
int threads_before() {
  std::thread([] {}).join();
  int n = threads_of_process();
  for (int last = -1; n != last;) {
    last = n;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    n = threads_of_process();
  }
  return n;
}

fg::ndarray<float, 128, 1024> input() {
  fg::ndarray<float, 128, 1024> x;
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = 0.01f * static_cast<float>(i % 7 - 3);
  return x;
}

}  // namespace

TEST_CASE("a session has no threads of its own until a step needs them, and then one fewer than asked for") {
  const auto x = input();
  const int before = threads_before();
  if (before < 0) return;
  fg::session<work> one({.threads = 1}), three({.threads = 3, .inter_op = fg::inter_op_policy::parallel});
  const float expected = one.run<"sum">(fg::feed<"x">(x));
  CHECK(threads_of_process() == before);
  CHECK(three.run<"sum">(fg::feed<"x">(x)) == expected);
  CHECK(threads_of_process() == before + 2);
}

TEST_CASE("steps without callers have the same threads, at least one; deadlines of theirs one that keeps the time") {
  static constexpr auto both = fg::define([](fg::graph& g) {
    auto x = g.placeholder<float, 128, 1024>("x");
    auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 8);
    auto sum = reduce_sum(tanh(x) * 2.0f) + reduce_sum(tanh(x) * 3.0f);
    g.name("sum", sum);
    g.name("put", q.enqueue(sum));
    g.name("get", q.dequeue());
  });
  const auto x = input();
  for (const int threads : {1, 2, 3}) {
    const int before = threads_before();
    if (before < 0) return;
    fg::session<both> s({.threads = threads, .inter_op = fg::inter_op_policy::parallel});
    const float expected = s.run<"sum">(fg::feed<"x">(x));
    CHECK(threads_of_process() == before + threads - 1);
    const int crew = std::max(threads - 1, 1);
    std::vector<fg::future<float>> waiting;
    for (int i = 0; i < 10; ++i) waiting.push_back(s.run_async<"get">());
    std::vector<fg::future<void>> putting;
    for (int i = 0; i < 10; ++i) putting.push_back(s.run_async<"put">(fg::feed<"x">(x)));
    CHECK(s.run<"sum">(fg::feed<"x">(x)) == expected);
    for (auto& f : waiting) CHECK(f.get() == expected);
    for (auto& f : putting) f.get();
    CHECK(threads_of_process() == before + crew);
    CHECK_THROWS_AS(s.run<"get">(fg::within(std::chrono::milliseconds(1))), fg::deadline_error);
    CHECK(threads_of_process() == before + crew);
    for (int i = 0; i < 3; ++i)
      CHECK_THROWS_AS(s.run_async<"get">(fg::within(std::chrono::milliseconds(1))).get(), fg::deadline_error);
    CHECK(threads_of_process() == before + crew + 1);
  }
}

TEST_CASE("no more threads than asked for run kernels at the same time") {
  static constexpr auto wide = fg::define([](fg::graph& g) {
    auto x = g.placeholder<float>("x");
    auto a = fg::host_call<"note", &note, fg::tensor<float>>(x);
    for (int i = 0; i < 6; ++i) a = a + exp(x * static_cast<float>(i));
    g.name("y", fg::host_call<"note", &note, fg::tensor<float>>(a));
  });
  for (const int threads : {1, 2, 3}) {
    fg::session<wide> s({.threads = threads, .inter_op = fg::inter_op_policy::parallel});
    seen.clear();
    most_at_once = 0;
    for (int i = 0; i < 20; ++i) s.run<"y">(fg::feed<"x">(1.0f));
    CHECK(static_cast<int>(seen.size()) <= threads);
    CHECK(most_at_once <= threads);
  }
}

TEST_CASE("an application lends its executor or its pool, and gets the same numbers") {
  const auto x = input();
  fg::session<work> alone({.threads = 1});
  const float expected = alone.run<"sum">(fg::feed<"x">(x));
  for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
    application app;
    Eigen::ThreadPool pool(1);
    const int before = threads_before();
    fg::session<work> lent({.threads = 2, .inter_op = inter_op, .schedule = [&app](std::function<void()> task) {
                              app.post(std::move(task));
                            }});
    fg::session<work> pooled({.threads = 8, .inter_op = inter_op, .pool = &pool});
    fg::session<work> inlined(
        {.threads = 3, .inter_op = inter_op, .schedule = [](const std::function<void()>& task) { task(); }});
    fg::session<work> refused({.threads = 3, .inter_op = inter_op, .schedule = [](const std::function<void()>&) {
                                 throw std::runtime_error("the executor is closed");
                               }});
    for (int i = 0; i < 3; ++i) {
      CHECK(lent.run<"sum">(fg::feed<"x">(x)) == expected);
      CHECK(pooled.run<"sum">(fg::feed<"x">(x)) == expected);
      CHECK(inlined.run<"sum">(fg::feed<"x">(x)) == expected);
      CHECK(refused.run<"sum">(fg::feed<"x">(x)) == expected);
    }
    CHECK(app.posted > 0);
    CHECK(threads_of_process() == before);
  }
}

TEST_CASE("sessions move, also while they have state and threads") {
  const auto x = input();
  fg::session<work> first({.threads = 2, .inter_op = fg::inter_op_policy::parallel});
  const float expected = first.run<"sum">(fg::feed<"x">(x));
  fg::session<work> second = std::move(first);
  CHECK(second.run<"sum">(fg::feed<"x">(x)) == expected);
  static_assert(std::is_nothrow_move_constructible_v<fg::session<work>>);
  static_assert(!std::is_copy_constructible_v<fg::session<work>>);
}
