// What steps that run at the same time see of each other's updates. Run under ThreadSanitizer, too.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

std::atomic<int> meeting{0}, met{0};

// Waits a while for a second step to be inside at the same time.
void meet(fg::array_ref<const float> x, fg::array_ref<float> y) {
  ++meeting;
  for (int i = 0; i < 200 && meeting < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (meeting >= 2) ++met;
  y[0] = x[0];
}

constexpr auto counters = fg::define([](fg::graph& g) {
  auto a = g.variable<float, 1000>("a");
  auto b = g.variable<float, 1000>("b");
  auto n = g.variable<std::int64_t>("n");
  // Both change together: whoever sees them differ has seen half a step.
  g.name("add", group(assign_add(a, 1), assign_add(b, 1), assign_add(n, 1)));
  // The result of a read-modify-write that spans instructions.
  auto before = identity(a);
  g.name("add_slowly", assign(a, exp(log(before + 1.0f))));
  g.name("difference", reduce_sum(abs(a - b)));
  g.name("spread", reduce_max(a) - reduce_min(a));
  g.name("sum_a", reduce_sum(a));
});

constexpr auto slow_update = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  auto v = g.variable<float>("v");
  auto gradient = fg::host_call<"meet", &meet, fg::tensor<float>>(x + v * 0.0f);
  g.name("train", assign_add(v, gradient));
});

template <class Work>
void on_threads(int count, const Work& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&work, t] { work(t); });
  for (std::thread& t : threads) t.join();
}

}  // namespace

TEST_CASE("consistent: eight threads read, change, get, set and initialize one session, as if one after another") {
  for (const auto inter_op : {fg::inter_op_policy::automatic, fg::inter_op_policy::parallel}) {
    fg::session<counters> s({.threads = 2, .inter_op = inter_op});
    std::atomic<int> halves{0}, torn{0};
    const std::vector<float> zeros(1000, 0.0f);
    on_threads(8, [&](int t) {
      for (int i = 0; i < 40; ++i) {
        if (t < 3) s.run<"add">();
        if (t == 3 || t == 4) halves += s.run<"difference">() != 0;
        if (t == 5) torn += s.run<"spread">() != 0;
        if (t == 6) {
          const auto a = s.get<"a">();
          for (const float v : a) torn += v != a(0);
        }
        if (t == 7 && i % 10 == 0) s.initialize(static_cast<std::uint64_t>(i));
      }
    });
    CHECK(halves == 0);
    CHECK(torn == 0);
    s.set<"a">(zeros);
    s.set<"b">(zeros);
    on_threads(8, [&](int) {
      for (int i = 0; i < 20; ++i) s.run<"add">();
    });
    CHECK(s.get<"a">()(999) == 160);
  }
}

TEST_CASE("consistent: a read-modify-write of several instructions loses nothing") {
  fg::session<counters> s({.threads = 1});
  on_threads(4, [&](int) {
    for (int i = 0; i < 25; ++i) s.run<"add_slowly">();
  });
  CHECK(s.get<"a">()(17) == doctest::Approx(100).epsilon(1e-3));
}

TEST_CASE("overlapping: every read is of a whole value and no update is lost") {
  for (const auto inter_op : {fg::inter_op_policy::automatic, fg::inter_op_policy::parallel}) {
    fg::session<counters> s({.threads = 2, .inter_op = inter_op, .updates = fg::update_policy::overlapping});
    std::atomic<int> torn{0};
    on_threads(8, [&](int t) {
      for (int i = 0; i < 40; ++i) {
        if (t < 5) s.run<"add">();
        if (t == 5) torn += static_cast<std::int64_t>(s.run<"sum_a">()) % 1000 != 0;
        if (t > 5) {
          const auto a = s.get<"a">();
          for (const float v : a) torn += v != a(0);
        }
      }
    });
    CHECK(torn == 0);
    CHECK(s.get<"n">() == 200);
    CHECK(s.get<"a">()(0) == 200);
    CHECK(s.get<"b">()(999) == 200);
  }
}

TEST_CASE("training steps compute at the same time where updates overlap, and one after another where they don't") {
  for (const auto updates : {fg::update_policy::consistent, fg::update_policy::overlapping}) {
    fg::session<slow_update> s({.threads = 1, .updates = updates});
    meeting = met = 0;
    on_threads(2, [&](int) { s.run<"train">(fg::feed<"x">(1.0f)); });
    CHECK(s.get<"v">() == 2);
    CHECK(met == (updates == fg::update_policy::overlapping ? 2 : 1));
  }
}

TEST_CASE("lock_free: a step takes no locks, and one thread alone gets exact numbers") {
  fg::session<counters> s({.threads = 1, .updates = fg::update_policy::lock_free});
  for (int i = 0; i < 10; ++i) s.run<"add">();
  CHECK(s.get<"n">() == 10);
  CHECK(s.run<"difference">() == 0);
}
