// Every allocation of a set of steps fails once: nothing crashes, leaks or hangs, and the next step works. A short run
// takes some of them, FLOWGRAPH_FAILING_ALLOCATIONS=all takes all.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

#include "counted_new.hpp"
#include "models.hpp"

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

// One of the allocations of what is done here fails, if there are as many.
class failing {
 public:
  explicit failing(std::int64_t n) : n_(n) {}
  template <class F>
  void operator()(const F& f) {
    allocations::fail(n_);
    try {
      f();
    } catch (const std::exception&) {  // itself, or what a step made of it
    }
    failed_ = allocations::failed();
  }
  bool failed() const { return failed_; }

 private:
  std::int64_t n_;
  bool failed_ = false;
};

// work(failing&) begins with nothing each time.
template <class Work>
void fail_each(const Work& work) {
  if (!allocations::are_counted) return;
  const char* wanted = std::getenv("FLOWGRAPH_FAILING_ALLOCATIONS");
  const bool all = wanted != nullptr && std::string_view(wanted) == "all";
  const std::int64_t before = allocations::made;
  failing none(0);
  work(none);
  const std::int64_t most = (allocations::made - before) / 60;
  std::int64_t n = 1, points = 0;
  for (bool failed = true; failed; ++points) {
    failing one(n);
    work(one);
    failed = one.failed();
    n += all || most < 2 ? 1 : 1 + points * 7 % most;
  }
  MESSAGE(points << " allocations failed, of " << n);
}

// Whether the step is over; it may have thrown.
template <class T>
bool is_over(fg::future<T>& f, int& done) {
  if (!f.wait_for(20s)) return false;
  try {
    f.get();
    ++done;
  } catch (const std::exception&) {
  }
  return true;
}

constexpr auto waiting = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 3>("x");
  auto q = fg::fifo_queue<fg::tensor<float, 3>>(g, "q", 4);
  auto priorities = fg::priority_queue<fg::tensor<float>>(g, "priorities", 4);
  auto w = g.variable<float>("w");
  g.name("put", q.enqueue(x));
  g.name("add", assign_add(w, reduce_sum(q.dequeue())));
  g.name("put_first", priorities.enqueue(g.constant<std::int64_t>(1), w));
  g.name("get_first", std::get<1>(priorities.dequeue()));
  auto m = fg::mutex(g, "m");
  auto held = m.acquire();
  auto after = g.control_dependencies(held);
  g.name("locked", fg::barrier(g, "b", 1).arrive());
});

constexpr auto looping = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 8>("x");
  auto w = g.variable<float, 8>("w", fg::init::ones());
  auto last =
      fg::while_loop([&](auto i, auto) { return i < 5; },
                     [&](auto i, auto y) { return std::tuple(i + 1, tanh(y * w)); }, g.constant<std::int32_t>(0), x);
  auto loss = g.name("loss", reduce_sum(std::get<1>(last)));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
});

// A loop and layers on two devices, between which values are copied.
constexpr auto spread = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4, 8>("x");
  auto w = g.variable<float, 8, 8>("w", fg::init::glorot_uniform());
  auto last = fg::while_loop([](auto i, auto, auto) { return i < 3; },
                             [&](auto i, auto a, auto b) {
                               auto next_a = tanh(matmul(a + b, w));
                               auto there = g.device("/job:other");
                               return std::tuple(i + 1, next_a, tanh(b - a));
                             },
                             g.constant<std::int32_t>(0), x, x * 2.f);
  auto there = g.device("/job:other");
  auto v = g.variable<float, 8, 8>("v", fg::init::he_normal());
  auto loss = g.name("loss", reduce_mean(square(matmul(std::get<1>(last), v) + std::get<2>(last))));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
});
constexpr const auto& on_two = fg::on_devices<spread, "/cpu:0", "/job:other/cpu:0">;

}  // namespace

TEST_CASE("failing allocations: a training step on two devices") {
  const std::vector<float> x(4 * 8, 0.5f);
  using session = fg::session<on_two>;
  session right({.threads = 1});
  const float first = right.run<"loss", "train">(fg::feed<"x">(x));
  const float second = right.run<"loss">(fg::feed<"x">(x));
  for (const int threads : {1, 2})
    fail_each([&](failing& one) {
      std::optional<session> s;
      bool trained = false;
      const fg::session_options options{
          .threads = threads, .serial_below = 0, .inter_op = fg::inter_op_policy::parallel};
      one([&] {
        s.emplace(options);
        s->run<"loss">(fg::within(1h), fg::feed<"x">(x));
        s->run_async<"train">(fg::feed<"x">(x)).get();
        trained = true;
      });
      if (!s) s.emplace(options);
      const float loss = s->run<"loss">(fg::within(20s), fg::feed<"x">(x));
      if (trained ? loss != second : loss != first && loss != second) FAIL(loss);
      s->run<"train">(fg::within(20s), fg::feed<"x">(x));
    });
}

TEST_CASE("failing allocations: a training step, however it runs") {
  const std::vector<float> x(32 * 8, 0.5f);
  const std::vector<std::int64_t> y(32, 1);
  using session = fg::session<models::mlp>;
  session right({.threads = 1});
  const float first = right.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
  const float second = right.run<"loss">(fg::feed<"x">(x), fg::feed<"y">(y));
  for (const fg::session_options& options :
       {fg::session_options{.threads = 1},
        fg::session_options{.threads = 2, .serial_below = 0, .inter_op = fg::inter_op_policy::serial},
        fg::session_options{
            .threads = 3, .inter_op = fg::inter_op_policy::parallel, .updates = fg::update_policy::overlapping}})
    fail_each([&](failing& one) {
      std::optional<session> s;
      bool trained = false;
      one([&] {
        s.emplace(options);
        s->run<"loss">(fg::within(1h), fg::feed<"x">(x), fg::feed<"y">(y));
        s->run<"train">(fg::feed<"x">(x), fg::feed<"y">(y));
        trained = true;
      });
      if (!s) s.emplace(options);
      const float loss = s->run<"loss">(fg::feed<"x">(x), fg::feed<"y">(y));
      if (trained ? loss != second : loss != first && loss != second) FAIL(loss);
      s->run<"train">(fg::feed<"x">(x), fg::feed<"y">(y));
    });
}

TEST_CASE("failing allocations: loops, and graphs that are built when the program runs") {
  const std::vector<float> x(8, 0.5f);
  fg::session<looping> right({.threads = 1});
  const float expected = right.run<"loss">(fg::feed<"x">(x));
  fail_each([&](failing& one) {
    std::optional<fg::session<looping>> s;
    one([&] {
      s.emplace(fg::session_options{.threads = 1});
      s->run<"loss", "train">(fg::feed<"x">(x));
    });
    if (!s) s.emplace(fg::session_options{.threads = 1});
    s->initialize(0);
    if (s->run<"loss">(fg::feed<"x">(x)) != expected) FAIL("another loss");
  });
  fg::graph g;
  models::build_mlp(g);
  const std::vector<float> images(32 * 8, 0.5f);
  fail_each([&](failing& one) {
    std::optional<fg::dynamic_session> s;
    one([&] {
      s.emplace(g, fg::session_options{.threads = 2});
      s->run(s->find<float, models::batch, 4>("logits"), fg::feed("x", images));
    });
    if (!s) s.emplace(g, fg::session_options{.threads = 2});
    s->run(s->find<float, models::batch, 4>("logits"), fg::feed("x", images));
  });
}

TEST_CASE("failing allocations: steps that wait, without their callers") {
  const std::vector<float> x{1, 2, 3};
  using session = fg::session<waiting>;
  for (const int threads : {1, 3})
    fail_each([&](failing& one) {
      std::optional<session> s;
      std::vector<fg::future<void>> adding, putting;
      one([&] {
        s.emplace(fg::session_options{.threads = threads});
        s->run_async<"add">(fg::within(1ms)).wait();
        for (int i = 0; i < 2; ++i) {
          adding.push_back(s->run_async<"add">(fg::within(1h)));
          adding.push_back(s->run_async<"add">());
          putting.push_back(s->run_async<"put">(fg::feed<"x">(x)));
        }
        s->run<"locked">();
        s->queue<"q">().enqueue(x);
        s->run<"add">(fg::within(1ms));
      });
      if (!s) s.emplace(fg::session_options{.threads = threads});
      s->run<"put_first">(fg::within(20s));
      s->run<"get_first">(fg::within(20s));
      s->run<"locked">(fg::within(20s));
      s->queue<"q">().close();  // who still waits has an end
      int added = 0, put = 0;
      for (auto& f : putting)
        if (!is_over(f, put)) FAIL("a step that puts hangs");
      for (auto& f : adding)
        if (!is_over(f, added)) FAIL("a step that adds hangs");
      const float w = s->get<"w">();
      if (w < 6.0f * static_cast<float>(added)) FAIL("an update is lost");
    });
}
