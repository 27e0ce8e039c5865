// Two tasks of a process, each with an engine of its own and its part of a model's plan, that meet over a link: the
// parameters on one, the rest on the other, and a loop that goes through both.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/engine/engine.hpp>
#include <flowgraph/engine/task_step.hpp>
#include <flowgraph/net/endpoint.hpp>
#include <flowgraph/net/link_rendezvous.hpp>
#include <flowgraph/net/memory_carrier.hpp>
#include <flowgraph/net/thread_loop.hpp>
#include <flowgraph/session/library_kernels.hpp>
#include <flowgraph/session/session.hpp>

#include "support.hpp"

namespace fg = flowgraph;

namespace {

using namespace std::chrono_literals;

constexpr const char* server_name = "/job:ps";

template <bool Spread>
constexpr auto on_server(fg::graph& g) {
  if constexpr (Spread)
    return g.device(server_name);
  else
    return 0;
}
template <bool Spread>
constexpr auto on_worker(fg::graph& g) {
  if constexpr (Spread)
    return g.device("/job:worker");
  else
    return 0;
}

// Images of 8 x 8 in batches of 16, ten classes; parameters and their updates are the server's.
template <bool Spread>
struct build_digits {
  constexpr void operator()(fg::graph& g) const {
    [[maybe_unused]] auto here = on_worker<Spread>(g);
    auto x = g.placeholder<float, 16, 64>("x");
    auto y = g.placeholder<std::int64_t, 16>("y");
    auto [w1, b1, w2, b2] = [&] {
      [[maybe_unused]] auto there = on_server<Spread>(g);
      return std::tuple(g.variable<float, 64, 32>("w1", fg::init::he_normal()), g.variable<float, 32>("b1"),
                        g.variable<float, 32, 10>("w2", fg::init::glorot_uniform()), g.variable<float, 10>("b2"));
    }();
    auto logits = matmul(relu(matmul(x, w1) + b1), w2) + b2;
    auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
    g.name("train", fg::adam(0.01).minimize(loss));
  }
};
constexpr auto digits = fg::define(build_digits<false>{});
constexpr auto digits_spread = fg::define(build_digits<true>{});
constexpr const auto& digits_on_two = fg::on_devices<digits_spread, "/job:worker/task:0/cpu:0", "/job:ps/task:0/cpu:0">;
constexpr const auto& digits_plan = fg::plan_of<digits_on_two, fg::fetch<"loss", "train">, fg::fetch<"x", "y">>;

std::atomic<bool> breaks{false};
void break_on_server(fg::array_ref<const float> x, fg::array_ref<float> y) {
  if (breaks) throw std::runtime_error("broken on the server");
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
}
template <bool Spread>
struct build_loop {
  constexpr void operator()(fg::graph& g) const {
    [[maybe_unused]] auto here = on_worker<Spread>(g);
    auto x = g.placeholder<float, 1, 8>("x");
    auto n = g.placeholder<std::int32_t>("n");
    auto w = [&] {
      [[maybe_unused]] auto there = on_server<Spread>(g);
      return g.variable<float, 8, 8>("w", fg::init::glorot_uniform());
    }();
    auto [turns, left, right] = fg::while_loop(
        [&](auto i, auto, auto) { return i < n; },
        [&](auto i, auto a, auto b) {
          auto next_a = tanh(a + 0.5f * b);
          [[maybe_unused]] auto there = on_server<Spread>(g);
          auto served = fg::host_call<"break_on_server", &break_on_server, fg::tensor<float, 1, 8>>(b - 0.25f * a);
          return std::tuple(i + 1, next_a, tanh(matmul(served, w)));
        },
        g.constant<std::int32_t>(0), x, x * 2.f);
    g.name("turns", turns);
    g.name("sum", reduce_sum(left + right));
  }
};
constexpr auto loop = fg::define(build_loop<false>{});
constexpr auto loop_spread = fg::define(build_loop<true>{});
constexpr const auto& loop_on_two = fg::on_devices<loop_spread, "/job:worker/task:0/cpu:0", "/job:ps/task:0/cpu:0">;
constexpr const auto& loop_plan = fg::plan_of<loop_on_two, fg::fetch<"sum">, fg::fetch<"n", "x">>;

const fg::task_name worker_task{"worker", 0}, server_task{"ps", 0};

// One task: an engine, and its part of one plan.
class member {
 public:
  member(const fg::plan_view& whole, const fg::graph_view& g, int task, const fg::session_options& o)
      : graph_(g),
        engine_(o, fg::provider_choice(), nullptr, false, meets),
        step_({whole, g, {.library = fg::detail::library_kernels()}}, task) {
    engine_.add_state(g);
    meets->add(1, step_.part.plan.view());
  }
  // The first of its values, if it has any. fed: by feed of the whole plan.
  float run(std::uint64_t number, const std::vector<fg::detail::borrowed>& fed, const fg::limits* within = nullptr) {
    std::vector<const fg::detail::borrowed*> feeds;
    for (const int f : step_.part.feeds) feeds.push_back(&fed[static_cast<std::size_t>(f)]);
    const fg::detail::random_position at{9, number};
    float got = 0;
    engine_.run(*step_.step, graph_, {feeds.data(), within, &at}, [&](const fg::detail::step_values& values) {
      if (!step_.part.fetches.empty() && values.size() > 0) values.copy(0, &got);
    });
    return got;
  }
  int elsewhere() const { return static_cast<int>(step_.step->elsewhere.size()); }

  const std::shared_ptr<fg::detail::link_source> meets = std::make_shared<fg::detail::link_source>();

 private:
  const fg::graph_view graph_;
  fg::detail::engine engine_;
  fg::detail::task_step step_;
};

struct two_tasks {
  fg::detail::thread_loop loop_of_worker, loop_of_server;
  std::shared_ptr<fg::detail::memory_network> network = std::make_shared<fg::detail::memory_network>();
  member worker, server;
  std::unique_ptr<fg::detail::endpoint> at_worker, at_server;
  std::shared_ptr<fg::detail::peer_link> link;

  two_tasks(const fg::plan_view& whole, const fg::graph_view& g, const fg::session_options& o)
      : worker(whole, g, 0, o),
        server(whole, g, 1, o) {
    using fg::detail::endpoint, fg::detail::memory_carrier;
    at_worker = std::make_unique<endpoint>(loop_of_worker, net_test::options_of(worker_task));
    at_server = std::make_unique<endpoint>(loop_of_server, net_test::options_of(server_task));
    at_worker->add(std::make_unique<memory_carrier>(loop_of_worker, network));
    at_server->add(std::make_unique<memory_carrier>(loop_of_server, network));
    std::promise<void> met;
    at_server->listen("process:ps", [&](const fg::detail::peer_info& p, const std::shared_ptr<fg::detail::peer_link>& l,
                                        std::string&) {
      auto r = server.meets->meet(p.name);
      r->goes_over(l);
      met.set_value();
      return r;
    });
    auto r = worker.meets->meet(server_task);
    link = at_worker->connect(server_task, "process:ps", r, loop_of_worker.now() + 20s);
    r->goes_over(link);
    met.get_future().wait();
  }
  // Both parts of a step; what the worker gives.
  float run(std::uint64_t number, const std::vector<fg::detail::borrowed>& fed) {
    std::exception_ptr failed;
    std::jthread there([&] {
      try {
        server.run(number, fed);
      } catch (...) {
        failed = std::current_exception();
      }
    });
    const float got = worker.run(number, fed);
    there.join();
    if (failed) std::rethrow_exception(failed);
    return got;
  }
};

fg::detail::borrowed feed_of(const void* data, fg::dtype t, std::initializer_list<std::int64_t> dims) {
  fg::detail::borrowed b;
  b.data = data;
  b.type = t;
  b.rank = static_cast<int>(dims.size());
  int k = 0;
  for (const std::int64_t n : dims) b.dims[k++] = n, b.count *= n;
  return b;
}

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

TEST_CASE("digits with their parameters on a server: the losses of one device, bit for bit") {
  for (const int threads : {1, 2}) {
    const fg::session_options o{.threads = threads, .seed = 9, .serial_below = 0};
    fg::session<digits> one({.threads = 1, .seed = 9});
    two_tasks two(digits_plan.view(), digits_spread.view(), o);
    CHECK(two.worker.elsewhere() >= 8);  // four parameters come, four gradients go
    CHECK(two.worker.elsewhere() == two.server.elsewhere());
    std::mt19937 random(3);
    float first = 0, last = 0;
    for (std::uint64_t step = 1; step <= 100; ++step) {
      fg::ndarray<float, 16, 64> x;
      fg::ndarray<std::int64_t, 16> y;
      for (std::int64_t i = 0; i < 16; ++i) {
        y.data()[i] = static_cast<std::int64_t>(random() % 10);
        for (std::int64_t k = 0; k < 64; ++k)
          x.data()[i * 64 + k] = static_cast<float>(random() % 17) / 16 + (k % 10 == y.data()[i] ? 1.f : 0.f);
      }
      const float loss = one.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
      const float got =
          two.run(step, {feed_of(x.data(), fg::dtype::float32, {16, 64}), feed_of(y.data(), fg::dtype::int64, {16})});
      REQUIRE(got == loss);
      (step == 1 ? first : last) = got;
    }
    CHECK(last < first / 2);
  }
}

TEST_CASE("a loop that goes through two tasks; what breaks on one is told on the other, and a cut link on both") {
  const fg::ndarray<float, 1, 8> x{{0.5f, -0.25f, 1, 2, -3, 0.125f, 0.75f, 1.5f}};
  const fg::session_options o{.threads = 2, .seed = 9, .serial_below = 0};
  fg::session<loop> one({.threads = 1, .seed = 9});
  two_tasks two(loop_plan.view(), loop_spread.view(), o);
  breaks = false;
  std::uint64_t number = 0;
  std::int32_t n = 0;
  const auto fed = [&] {
    return std::vector{feed_of(&n, fg::dtype::int32, {}), feed_of(x.data(), fg::dtype::float32, {1, 8})};
  };
  for (const std::int32_t turns : {0, 1, 2, 3, 50, 500}) {
    n = turns;
    const auto sum = one.run<"sum">(fg::feed<"n">(n), fg::feed<"x">(x));
    CHECK(two.run(++number, fed()) == sum);
  }
  breaks = true;
  for (int again = 0; again < 10; ++again) {
    ++number;
    std::string there;
    std::jthread server([&] { there = failure_of([&] { two.server.run(number, fed()); }); });
    const std::string here = failure_of([&] { two.worker.run(number, fed()); });
    server.join();
    CAPTURE(here);
    CHECK(there.find("broken on the server") != std::string::npos);
    CHECK(here.find("/job:ps/task:0: ") != std::string::npos);
    CHECK(here.find("broken on the server") != std::string::npos);
    CHECK(here.find("tasks.cpp") != std::string::npos);  // the line that made it
  }
  breaks = false;
  n = 1'000'000;
  ++number;
  std::string there;
  std::jthread server([&] { there = failure_of([&] { two.server.run(number, fed()); }); });
  std::jthread cutter([&] {
    std::this_thread::sleep_for(30ms);
    two.link->close("the test has cut it");
  });
  const std::string here = failure_of([&] { two.worker.run(number, fed()); });
  server.join();
  CAPTURE(here);
  CAPTURE(there);
  CHECK(here.find("/job:ps/task:0: the test has cut it") != std::string::npos);
  CHECK(there.find("/job:worker/task:0: ") != std::string::npos);
}
