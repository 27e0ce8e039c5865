// Devices beside the CPU: what every kind of them has to do, and steps that wait for one which does everything late, on
// a thread of its own, and give the numbers of one CPU all the same.
#include <flowgraph/engine/devices/cpu.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/engine/engine.hpp>
#include <flowgraph/passes/pipeline.hpp>
#include <flowgraph/session/library_kernels.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

#include "support/device_conformance.hpp"
#include "support/lagging_device.hpp"

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

constexpr fg::dim batch{"batch"};

std::atomic<int> fails_in{-1};
void break_there(fg::array_ref<const float> x, fg::array_ref<float> y) {
  if (fails_in.load() >= 0 && fails_in.fetch_sub(1) == 0) throw std::runtime_error("broken on a device");
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
}

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  auto n = g.placeholder<std::int32_t>("n");
  const auto on = [&](int k, auto make) {
    auto there = g.device(k == 0 ? "/cpu:0" : k == 1 ? "/gpu:0" : "/gpu:1");
    return make();
  };
  auto w1 = g.variable<float, 4, 8>("w1", fg::init::glorot_uniform());
  auto w2 = on(1, [&] { return g.variable<float, 8, 8>("w2", fg::init::glorot_uniform()); });
  auto w3 = on(2, [&] { return g.variable<float, 8, 4>("w3", fg::init::he_normal()); });
  auto count = on(1, [&] { return g.variable<std::int64_t>("count"); });
  // A net whose layers are on three devices.
  auto h1 = relu(matmul(x, w1));
  auto h2 = on(1, [&] { return tanh(matmul(h1, w2)); });
  auto y = on(2, [&] { return g.name("y", matmul(h2, w3) + x); });
  auto loss = g.name("loss", reduce_mean(square(y)));
  g.name("train", fg::adam(0.01).minimize(loss));
  on(1, [&] { return g.name("counted", assign_add(count, g.constant<std::int64_t>(1))); });
  // A ring: in each turn every device computes from what its neighbour had; a choice within, and a queue.
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 1000);
  g.name("put", q.enqueue(reduce_sum(x)));
  const auto ring = [&](bool dequeues) {
    return fg::while_loop(
        [&](auto i, auto, auto, auto) { return i < n; },
        [&](auto i, auto u, auto v, auto w) {
          auto next_u = on(1, [&] {
            return fg::host_call<"break_there", &break_there, fg::tensor<float, batch, 4>>(tanh(u + w * 0.5f));
          });
          auto next_v = on(2, [&] {
            return fg::cond(
                reduce_sum(u) > 0.f, [&] { return tanh(v - u); }, [&] { return v * 0.5f + reduce_sum(w3); });
          });
          auto next_w = dequeues ? tanh(w + v * q.dequeue()) : tanh(w + v);
          return std::tuple(i + 1, next_u, next_v, next_w);
        },
        g.constant<std::int32_t>(0), x, x * 2.f, x * 3.f);
  };
  auto plain = ring(false), from_queue = ring(true);
  g.name("ring", std::get<1>(plain) + std::get<2>(plain) + std::get<3>(plain));
  g.name("queue_ring", std::get<1>(from_queue) + std::get<2>(from_queue) + std::get<3>(from_queue));
});

using values = std::vector<std::vector<float>>;
using names = std::vector<std::string_view>;

// An engine with devices of its own.
class rig {
 public:
  rig(names devices, const fg::session_options& o)
      : devices_(std::move(devices)),
        all(std::make_shared<lagging_devices>()),
        graph_(model.view()),
        engine_(o, fg::provider_choice(), &fg::detail::find_resource, false, nullptr, all) {
    engine_.add_state(graph_);
  }

  values run(const names& fetches, const fg::ndarray<float, batch, 4>& x, std::int32_t n = 0,
             const fg::limits* within = nullptr) {
    const step& s = prepare(fetches);
    fg::detail::borrowed array{x.data(), fg::dtype::float32, false, 2, {}, x.size()}, number;
    array.dims[0] = x.dim(0), array.dims[1] = 4;
    number.data = &n, number.type = fg::dtype::int32;
    std::vector<const fg::detail::borrowed*> feeds;
    for (const fg::feed_use& f : s.plan.feeds) feeds.push_back(f.type == fg::dtype::int32 ? &number : &array);
    values got;
    engine_.run(*s.ready, graph_, {feeds.data(), within}, [&](const fg::detail::step_values& v) {
      for (std::size_t k = 0; k < v.size(); ++k) {
        got.emplace_back(static_cast<std::size_t>(v.view(k).size()));
        if (v.view(k).type == fg::dtype::float32) v.copy(k, got.back().data());
      }
    });
    return got;
  }
  std::int64_t peak(const names& fetches, int device, std::int64_t rows) {
    const fg::binding b = batch(rows);
    return fg::peak_bytes(prepare(fetches).plan.view(), {&b, 1}, device);
  }

 private:
  struct step {
    fg::plan_data plan;
    std::unique_ptr<fg::detail::prepared_step> ready;
  };

  const step& prepare(const names& fetches) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<step>& s = steps_[fetches];
    if (s != nullptr) return *s;
    s = std::make_unique<step>();
    std::vector<int> out, in;
    for (const std::string_view f : fetches) out.push_back(graph_.find(f));
    const bool rings = fetches[0].find("ring") != std::string_view::npos;
    if (fetches[0] != "counted") in.push_back(graph_.find("x"));
    if (rings) in.push_back(graph_.find("n"));
    const auto list = [](const auto& v) {
      return fg::detail::slice<std::decay_t<decltype(v[0])>>{v.data(), static_cast<int>(v.size())};
    };
    s->plan = fg::passes::plan(graph_, {list(out), list(in)}, list(devices_), {.soft_placement = true});
    REQUIRE(s->plan.fault.why == fg::problem::none);
    s->ready = std::make_unique<fg::detail::prepared_step>(
        s->plan.view(), graph_, fg::detail::kernel_source{.library = fg::detail::library_kernels()}, all.get());
    return *s;
  }

  names devices_;

 public:
  std::shared_ptr<lagging_devices> all;

 private:
  const fg::graph_view graph_;
  fg::detail::engine engine_;
  std::mutex mutex_;
  std::map<names, std::unique_ptr<step>> steps_;
};

const names one{"/cpu:0"}, two{"/cpu:0", "/gpu:0"}, three{"/cpu:0", "/gpu:0", "/gpu:1"};

fg::ndarray<float, batch, 4> rows(std::int64_t n) {
  fg::ndarray<float, batch, 4> x{fg::binding{"batch", n}};
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = std::cos(static_cast<float>(i));
  return x;
}

}  // namespace

TEST_CASE("devices: the CPU") {
  device_conformance::run_all([] { return std::make_shared<fg::detail::cpu_device>(); });
}
TEST_CASE("devices: one that lags") {
  device_conformance::run_all([] { return std::make_shared<lagging_device>(); });
}

TEST_CASE("steps on devices that lag give the numbers of one CPU") {
  fails_in = -1;
  for (const names* devices : {&two, &three})
    for (const int threads : {1, 2, 3})
      for (const auto updates : {fg::update_policy::consistent, fg::update_policy::overlapping}) {
        rig right(one, {.threads = 1, .seed = 3});
        rig s(*devices, {.threads = threads, .seed = 3, .serial_below = 0, .updates = updates});
        for (const std::int64_t n : {5, 1, 300, 0, 5}) {
          const auto x = rows(n);
          CAPTURE(n);
          if (n > 0) CHECK(s.run({"loss", "train"}, x) == right.run({"loss", "train"}, x));
          CHECK(s.run({"y"}, x) == right.run({"y"}, x));
          for (const std::int32_t turns : {0, 1, 6}) {
            CHECK(s.run({"ring"}, x, turns) == right.run({"ring"}, x, turns));
            for (int k = 0; k < turns; ++k) s.run({"put"}, x), right.run({"put"}, x);
            CHECK(s.run({"queue_ring"}, x, turns) == right.run({"queue_ring"}, x, turns));
          }
        }
        CHECK(s.all->at("/gpu:0").computed() > 0);
        CHECK(s.all->at("/gpu:0").copied() > 0);
      }
}

TEST_CASE("a step takes from a device what peak_bytes says of it") {
  rig s(three, {.threads = 2, .seed = 3});
  const auto x = rows(64);
  for (const names& fetches : {names{"loss", "train"}, names{"ring"}}) {
    const std::size_t before[] = {s.all->find("/gpu:0") != nullptr ? s.all->at("/gpu:0").bytes() : 0,
                                  s.all->find("/gpu:1") != nullptr ? s.all->at("/gpu:1").bytes() : 0};
    s.run(fetches, x, 3);
    CHECK(s.peak(fetches, 1, 64) > 0);
    CHECK(static_cast<std::int64_t>(s.all->at("/gpu:0").bytes() - before[0]) == s.peak(fetches, 1, 64));
    CHECK(static_cast<std::int64_t>(s.all->at("/gpu:1").bytes() - before[1]) == s.peak(fetches, 2, 64));
  }
}

TEST_CASE("a step keeps its variables while a device is at work for it, and lets them go where it waits for others") {
  rig s(two, {.threads = 2, .seed = 3});
  const auto x = rows(2);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (int k = 0; k < 50; ++k) s.run({"counted"}, x);
      });
  }
  // The ring reads w3, and waits for the queue; a training step has w3 meanwhile.
  std::jthread waiting([&] { s.run({"queue_ring"}, x, 1); });
  std::this_thread::sleep_for(5ms);
  s.run({"train"}, x);
  s.run({"put"}, x);
}

TEST_CASE("failures, deadlines and stops at any moment end steps on devices that lag") {
  const auto x = rows(3);
  std::mt19937 random(9);
  for (const auto updates : {fg::update_policy::consistent, fg::update_policy::overlapping}) {
    rig s(three, {.threads = 2, .seed = 3, .serial_below = 0, .updates = updates});
    int failed = 0, ended = 0, done = 0;
    for (int i = 0; i < 500; ++i) {
      fails_in = random() % 3 == 0 ? static_cast<int>(random() % 8) : -1;
      std::stop_source stop;
      fg::limits l{.stop = stop.get_token()};
      if (random() % 3 == 0) l = fg::within(std::chrono::microseconds(random() % 500), stop.get_token());
      const bool waits = random() % 4 == 0, stops = waits || random() % 4 == 0;
      const auto pause = static_cast<unsigned>(random() % 100);
      const std::jthread stopper([&] {
        for (unsigned k = 0; k < pause; ++k) std::this_thread::yield();
        if (stops) stop.request_stop();
      });
      try {
        s.run(waits ? names{"queue_ring"} : names{"ring"}, x, 5, &l);
        ++done;
      } catch (const fg::deadline_error&) {
        ++ended;
      } catch (const fg::cancelled_error&) {
        ++ended;
      } catch (const fg::execution_error& e) {
        if (std::string_view(e.what()).find("broken on a device") == std::string_view::npos) FAIL(e.what());
        ++failed;
      }
    }
    CHECK(failed > 0);
    CHECK(ended > 0);
    CHECK(done > 0);
    fails_in = -1;
    rig right(one, {.threads = 1, .seed = 3});
    CHECK(s.run({"ring"}, x, 7) == right.run({"ring"}, x, 7));
    CHECK(s.run({"loss", "train"}, x) == right.run({"loss", "train"}, x));
  }
}

TEST_CASE("a device without memory fails the step, and the next one works") {
  rig s(two, {.threads = 1, .seed = 3});
  const auto x = rows(4);
  s.all->find("/gpu:0");
  s.all->at("/gpu:0").full = true;
  CHECK_THROWS_AS(s.run({"y"}, x), std::bad_alloc);
  s.all->at("/gpu:0").full = false;
  rig right(one, {.threads = 1, .seed = 3});
  CHECK(s.run({"y"}, x) == right.run({"y"}, x));
}
