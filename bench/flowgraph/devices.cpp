// What devices gain. towers: two on a device each, one core each, that exchange values in each turn of a loop; receive:
// a value that comes from elsewhere after 10 ms, beside 10 ms of work. With BENCH_IN_TURN=1 the same is done one after
// the other, on one device and with the work behind the value.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <flowgraph/engine/engine.hpp>
#include <flowgraph/engine/task_step.hpp>
#include <flowgraph/session/library_kernels.hpp>

#include "prepared.hpp"

namespace fg = flowgraph;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

const bool in_turn = std::getenv("BENCH_IN_TURN") != nullptr;

constexpr int turns = 40;

inline constexpr auto towers = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 64, 256>("x");
  const auto on_first = [&](auto make) {
    auto there = g.device("/cpu:0");
    return make();
  };
  const auto on_second = [&](auto make) {
    auto there = g.device("/cpu:1");
    return make();
  };
  const auto weights = [&](auto name) { return g.variable<float, 256, 256>(name, fg::init::orthogonal()); };
  auto w1 = on_first([&] { return weights("w1"); }), v1 = on_first([&] { return weights("v1"); });
  auto w2 = on_second([&] { return weights("w2"); }), v2 = on_second([&] { return weights("v2"); });
  auto last = fg::while_loop([](auto i, auto, auto) { return i < turns; },
                             [&](auto i, auto a, auto b) {
                               auto next_a = on_first([&] { return tanh(matmul(tanh(matmul(a + 0.5f * b, w1)), v1)); });
                               auto next_b =
                                   on_second([&] { return tanh(matmul(tanh(matmul(b - 0.5f * a, w2)), v2)); });
                               return std::tuple(i + 1, next_a, next_b);
                             },
                             g.constant<std::int32_t>(0), x, x * 0.5f);
  g.name("y", reduce_mean(square(std::get<1>(last) + std::get<2>(last))));
});
inline constexpr const auto& on_one = fg::softly_on<towers>;
inline constexpr const auto& on_two = fg::on_devices<towers, "/cpu:0", "/cpu:1">;

bench::step prepare_towers(int threads) {
  const std::vector<float> x = bench::numbers(64 * 256, 0, 1);
  if (in_turn) {
    auto s = std::make_shared<fg::session<on_one>>(fg::session_options{.threads = 1});
    return [s, x] { return s->run<"y">(fg::feed<"x">(x)); };
  }
  auto s = std::make_shared<fg::session<on_two>>(
      fg::session_options{.threads = threads, .inter_op = fg::inter_op_policy::parallel});
  return [s, x] { return s->run<"y">(fg::feed<"x">(x)); };
}

void work_for_10_ms(fg::array_ref<const float> x, fg::array_ref<float> y) {
  for (const auto end = steady::now() + 10ms; steady::now() < end;) {
  }
  y[0] = x[0] * 2;
}

// This task's part receives what the other one makes of x.
template <bool Behind>
inline constexpr auto split = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float>("x");
  auto from_there = [&] {
    auto there = g.device("/job:there");
    return exp(x);
  }();
  auto here = g.device("/job:here");
  const auto work = [](auto v) { return fg::host_call<"work_for_10_ms", &work_for_10_ms, fg::tensor<float>>(v); };
  if constexpr (Behind)
    g.name("y", from_there + work(x + 0.0f * from_there));
  else
    g.name("y", from_there + work(x + 0.0f));
});

// Sends what it is given nowhere; every value arrives 10 ms after the step has begun, and is 1.
class late final : public fg::detail::rendezvous {
 public:
  ~late() override { timer_.request_stop(); }

  std::unique_ptr<fg::detail::attempt> sender(int) override { return std::make_unique<side>(*this, true); }
  std::unique_ptr<fg::detail::attempt> receiver(int) override { return std::make_unique<side>(*this, false); }
  void begin(const fg::detail::rendezvous_step&) override {
    const std::lock_guard lock(mutex_);
    arrives_ = steady::now() + 10ms;
    has_begun_ = true;
    has_arrived_ = false;
    changed_.notify_all();
  }
  void abort(fg::problem, std::string_view) noexcept override {}
  void end() noexcept override {}

 private:
  class side final : public fg::detail::attempt {
   public:
    side(late& of, bool sends) : of_(of), sends_(sends) {}
    bool begin(const fg::kernel_args&, fg::detail::waiter& w) override {
      if (sends_) return true;
      const std::lock_guard lock(of_.mutex_);
      if (!of_.has_arrived_) of_.waits_ = &w;
      return of_.has_arrived_;
    }
    bool cancel() noexcept override { return false; }
    void finish(const fg::kernel_args& k) override {
      if (!sends_) *k.out[0].as<float>() = 1;
    }

   private:
    late& of_;
    bool sends_;
  };

  void bring(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!changed_.wait(lock, stop, [this] { return has_begun_; })) return;
      const auto at = arrives_;
      has_begun_ = false;
      lock.unlock();
      std::this_thread::sleep_until(at);
      lock.lock();
      has_arrived_ = true;
      fg::detail::waiter* const w = std::exchange(waits_, nullptr);
      lock.unlock();
      if (w != nullptr) w->wake();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  steady::time_point arrives_;
  bool has_begun_ = false, has_arrived_ = false;
  fg::detail::waiter* waits_ = nullptr;
  std::jthread timer_{[this](const std::stop_token& stop) { bring(stop); }};
};
struct late_source final : fg::detail::rendezvous_source {
  std::unique_ptr<fg::detail::rendezvous> make(const fg::plan_view&) override { return std::make_unique<late>(); }
};

template <bool Behind>
class part {
  static constexpr const auto& model = fg::on_devices<split<Behind>, "/job:here/cpu:0", "/job:there/cpu:0">;
  static constexpr const auto& whole = fg::plan_of<model, fg::fetch<"y">, fg::fetch<"x">>;

 public:
  explicit part(int threads)
      : graph_(model.view()),
        step_({whole.view(), graph_, {.library = fg::detail::library_kernels()}}, 0),
        engine_({.threads = threads}, fg::provider_choice(), nullptr, false, std::make_shared<late_source>()) {
    engine_.add_state(graph_);
  }
  float run() {
    const float x = 3;
    fg::detail::borrowed fed{&x, fg::dtype::float32, false, 0, {}, 1};
    const fg::detail::borrowed* const feeds[] = {&fed};
    float y = 0;
    engine_.run(*step_.step, graph_, {step_.part.feeds.count == 0 ? nullptr : feeds},
                [&](const fg::detail::step_values& v) { v.copy(0, &y); });
    return y;
  }

 private:
  const fg::graph_view graph_;
  fg::detail::task_step step_;
  fg::detail::engine engine_;
};

bench::step prepare_receive(int threads) {
  if (in_turn) return [p = std::make_shared<part<true>>(threads)] { return p->run(); };
  return [p = std::make_shared<part<false>>(threads)] { return p->run(); };
}

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"towers", prepare_towers}, {"receive", prepare_receive}});
}
