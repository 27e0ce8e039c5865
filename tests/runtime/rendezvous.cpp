// Where devices meet: in one memory, and as tasks that run parts of one plan do, over a wire that is slow and copies.
#include <flowgraph/engine/rendezvous/local.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/engine/engine.hpp>
#include <flowgraph/engine/task_step.hpp>
#include <flowgraph/session/library_kernels.hpp>
#include <flowgraph/session/session.hpp>

#include "support/rendezvous_conformance.hpp"
#include "support/wire_rendezvous.hpp"

namespace fg = flowgraph;

namespace {

std::atomic<bool> breaks{false};
void break_on_server(fg::array_ref<const float> x, fg::array_ref<float> y) {
  if (breaks) throw std::runtime_error("broken on the server");
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
}

// A loop and weights on both tasks, an update on the server's side.
struct build {
  constexpr void operator()(fg::graph& g) const {
    auto x = g.placeholder<float, 1, 8>("x");
    auto n = g.placeholder<std::int32_t>("n");
    const auto on_server = [&](auto make) {
      auto there = g.device("/job:ps");
      return make();
    };
    auto w = on_server([&] { return g.variable<float, 8, 8>("w", fg::init::glorot_uniform()); });
    auto served = on_server([&] { return g.variable<std::int64_t>("served"); });
    auto here = g.device("/job:worker");
    auto v = g.variable<float, 8, 8>("v", fg::init::he_normal());
    auto [turns, left, right] = fg::while_loop(
        [&](auto i, auto, auto) { return i < n; },
        [&](auto i, auto a, auto b) {
          auto next_a = tanh(matmul(a + 0.5f * b, v));
          auto there = g.device("/job:ps");
          auto served_b = fg::host_call<"break_on_server", &break_on_server, fg::tensor<float, 1, 8>>(b - 0.25f * a);
          return std::tuple(i + 1, next_a, tanh(matmul(served_b, w)));
        },
        g.constant<std::int32_t>(0), x, x * 2.f);
    g.name("turns", turns), g.name("left", left), g.name("right", right);
    auto loss = g.name("loss", reduce_sum(square(matmul(tanh(matmul(x, v)), w))));
    g.name("train", fg::gradient_descent(0.01).minimize(loss));
    auto there = g.device("/job:ps");
    g.name("count", assign_add(served, g.constant<std::int64_t>(1)));
  }
};
constexpr auto model = fg::define(build{});
constexpr const auto& spread = fg::on_devices<model, "/job:worker/task:0/cpu:0", "/job:ps/task:0/cpu:0">;
constexpr const auto& whole =
    fg::plan_of<spread, fg::fetch<"left", "right", "loss", "train", "count">, fg::fetch<"n", "x">>;

fg::detail::borrowed scalar(const std::int32_t& n) {
  fg::detail::borrowed b;
  b.data = &n;
  b.type = fg::dtype::int32;
  return b;
}
fg::detail::borrowed row(const fg::ndarray<float, 1, 8>& x) {
  fg::detail::borrowed b{x.data(), fg::dtype::float32, false, 2, {}, 8};
  b.dims[0] = 1, b.dims[1] = 8;
  return b;
}

// One task: an engine of its own, and its part of the plan.
class member {
 public:
  member(wire::network& n, int task, fg::session_options o)
      : meets(std::make_shared<wire::task>(n)),
        engine_(o, fg::provider_choice(), nullptr, false, meets),
        step_({whole.view(), model.view(), {.library = fg::detail::library_kernels()}}, task) {
    engine_.add_state(model.view());
  }

  // The values that are its own, by fetch of the whole plan.
  std::vector<std::pair<int, std::vector<float>>> run(std::uint64_t number, std::int32_t n,
                                                      const fg::ndarray<float, 1, 8>& x,
                                                      const fg::limits* within = nullptr) {
    const fg::detail::borrowed fed[] = {scalar(n), row(x)};
    std::vector<const fg::detail::borrowed*> feeds;
    for (const int f : step_.part.feeds) feeds.push_back(&fed[f]);
    std::vector<std::pair<int, std::vector<float>>> got;
    const fg::detail::random_position at{9, number};
    const fg::graph_view g = model.view();
    engine_.run(*step_.step, g, {feeds.data(), within, &at}, [&](const fg::detail::step_values& values) {
      std::size_t k = 0;
      for (const int f : step_.part.fetches) {
        if (whole.view().fetches[f].where == fg::storage::none) continue;
        std::vector<float> v(static_cast<std::size_t>(values.view(k).size()));
        if (values.view(k).type == fg::dtype::float32) values.copy(k, v.data());
        got.emplace_back(f, v);
        ++k;
      }
    });
    return got;
  }
  int elsewhere() const { return static_cast<int>(step_.step->elsewhere.size()); }

  std::shared_ptr<wire::task> meets;

 private:
  fg::detail::engine engine_;
  fg::detail::task_step step_;
};

struct cluster {
  explicit cluster(const fg::session_options& o) : worker(net, 0, o), server(net, 1, o) {
    wire::task::connect(*worker.meets, *server.meets);
  }
  wire::network net;
  member worker, server;
};

template <class F>
std::string failure_of(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("rendezvous: one memory") {
  rendezvous_conformance::run_all([](const rendezvous_conformance::plans& p) {
    auto one = std::make_shared<fg::detail::local_rendezvous>(p.whole.view());
    return rendezvous_conformance::sides{one, one};
  });
}

TEST_CASE("rendezvous: a wire between tasks") {
  wire::network net(5);
  std::vector<std::shared_ptr<wire::task>> tasks;  // they outlive their ends
  rendezvous_conformance::run_all([&](const rendezvous_conformance::plans& p) {
    auto a = std::make_shared<wire::task>(net), b = std::make_shared<wire::task>(net);
    tasks.insert(tasks.end(), {a, b});
    wire::task::connect(*a, *b);
    return rendezvous_conformance::sides{a->make(p.sends.view()), b->make(p.receives.view())};
  });
  net.settle();
}

TEST_CASE("tasks that run parts of a plan give the numbers of one") {
  const fg::ndarray<float, 1, 8> x{{0.5f, -0.25f, 1, 2, -3, 0.125f, 0.75f, 1.5f}};
  breaks = false;
  for (const int threads : {1, 2}) {
    const fg::session_options o{.threads = threads, .seed = 9, .serial_below = 0};
    fg::session<spread> one({.threads = 1, .seed = 9});
    cluster c(o);
    CHECK(c.worker.elsewhere() > 0);
    CHECK(c.worker.elsewhere() == c.server.elsewhere());
    std::uint64_t number = 0;
    for (const std::int32_t n : {0, 1, 2, 9, 30}) {
      const auto [left, right, loss] =
          one.run<"left", "right", "loss", "train", "count">(fg::feed<"n">(n), fg::feed<"x">(x));
      std::vector<std::pair<int, std::vector<float>>> there;
      ++number;
      std::jthread server([&] { there = c.server.run(number, n, x); });
      auto got = c.worker.run(number, n, x);
      server.join();
      got.insert(got.end(), there.begin(), there.end());
      REQUIRE(got.size() == 3);
      for (const auto& [f, v] : got) {
        CAPTURE(f);
        if (f == 0) CHECK(std::equal(v.begin(), v.end(), left.begin(), left.end()));
        if (f == 1) CHECK(std::equal(v.begin(), v.end(), right.begin(), right.end()));
        if (f == 2) CHECK(v[0] == loss);
      }
    }
    c.net.settle();
    CHECK(c.worker.meets->steps_known() == 0);
    CHECK(c.server.meets->steps_known() == 0);
  }
}

TEST_CASE("a failure on one task ends the step on the other with its cause") {
  const fg::ndarray<float, 1, 8> x{{0.5f, -0.25f, 1, 2, -3, 0.125f, 0.75f, 1.5f}};
  cluster c({.threads = 2, .seed = 9, .serial_below = 0});
  for (std::uint64_t number = 1; number <= 20; ++number) {
    breaks = true;
    std::string there;
    std::jthread server([&] { there = failure_of([&] { c.server.run(number, 30, x); }); });
    const std::string here = failure_of([&] { c.worker.run(number, 30, x); });
    server.join();
    CAPTURE(here);
    CAPTURE(there);
    CHECK(there.find("broken on the server") != std::string::npos);
    CHECK(here.find("broken on the server") != std::string::npos);
    breaks = false;
    ++number;
    // A peer that never comes: the deadline ends what waits, and the peer hears of it when it comes.
    const fg::limits soon = fg::within(std::chrono::milliseconds(2));
    const std::string late = failure_of([&] { c.worker.run(number, 30, x, &soon); });
    CAPTURE(late);
    CHECK(late.find("recv") != std::string::npos);
    CHECK(failure_of([&] { c.server.run(number, 30, x); }) != "");
    ++number;
    std::jthread again([&] { c.server.run(number, 3, x); });
    c.worker.run(number, 3, x);
  }
  c.net.settle();
  CHECK(c.worker.meets->steps_known() == 0);
}

TEST_CASE("a part of a plan needs to know where the others are") {
  const fg::ndarray<float, 1, 8> x;
  fg::detail::engine alone({.threads = 1}, fg::provider_choice(), nullptr, false);
  const fg::graph_view g = model.view();
  alone.add_state(g);
  fg::detail::task_step step({whole.view(), g, {.library = fg::detail::library_kernels()}}, 0);
  const std::int32_t n = 1;
  const fg::detail::borrowed fed[] = {scalar(n), row(x)};
  const fg::detail::borrowed* const feeds[] = {&fed[0], &fed[1]};
  CHECK_THROWS_AS(alone.run(*step.step, g, {feeds}, [](const fg::detail::step_values&) {}), fg::argument_error);
}
