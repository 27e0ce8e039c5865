// Steps on two and three devices that are cancelled, run out of time or fail at random moments: 10,000 of them, then
// the next one is right. More: FLOWGRAPH_ENDURANCE_STEPS=1000000 test_runtime -tc='endurance: devices*'
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/language/on_devices.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

std::atomic<int> fails_in{-1};
void break_somewhere(fg::array_ref<const float> x, fg::array_ref<float> y) {
  if (fails_in.load(std::memory_order_relaxed) >= 0 && fails_in.fetch_sub(1) == 0)
    throw std::runtime_error("broken here");
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
}

// A ring: in each turn every device computes from what its neighbour had, one of them by a choice, one with what a
// queue gives; each changes a variable of its own at the end.
template <int Devices, bool Spread>
struct build_ring {
  template <class G>
  static constexpr auto on(G& g, int k) {
    if constexpr (Spread)
      return g.device(k % Devices == 0 ? "/cpu:0" : k % Devices == 1 ? "/cpu:1" : "/cpu:2");
    else
      return 0;
  }
  constexpr void operator()(fg::graph& g) const {
    auto n = g.placeholder<std::int32_t>("n");
    auto x = g.placeholder<float, 4>("x");
    auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 1000);
    g.name("put", q.enqueue(reduce_sum(x)));
    const auto variable = [&](int k, std::string_view name) {
      [[maybe_unused]] auto there = on(g, k);
      return g.variable<float, 4>(name, fg::init::constant(0.5));
    };
    auto a = variable(0, "a"), b = variable(1, "b"), c = variable(2, "c");
    const auto ring = [&](bool dequeues) {
      return fg::while_loop(
          [&](auto i, auto, auto, auto) { return i < n; },
          [&](auto i, auto u, auto v, auto w) {
            auto next_u = [&] {
              [[maybe_unused]] auto there = on(g, 0);
              return fg::host_call<"break_somewhere", &break_somewhere, fg::tensor<float, 4>>(tanh(u + w) * a);
            }();
            auto next_v = [&] {
              [[maybe_unused]] auto there = on(g, 1);
              return fg::cond(
                  reduce_sum(u) > 0.f, [&] { return tanh(v - u) * b; },
                  [&] { return fg::host_call<"break_somewhere", &break_somewhere, fg::tensor<float, 4>>(v * 0.5f); });
            }();
            auto next_w = [&] {
              [[maybe_unused]] auto there = on(g, 2);
              if (dequeues) return tanh(w + v * q.dequeue()) * c;
              return tanh(w + v) * c;
            }();
            return std::tuple(i + 1, next_u, next_v, next_w);
          },
          g.constant<std::int32_t>(0), x, x * 2.f, x * 3.f);
    };
    const auto name = [&](auto& looped, std::string_view value, std::string_view change) {
      auto& [i, u, v, w] = looped;
      g.name(value, u + v + w);
      g.name(change, fg::group(assign_add(a, u * 0.125f), assign_add(b, v * 0.125f), assign_add(c, w * 0.125f)));
    };
    auto plain = ring(false), from_queue = ring(true);
    name(plain, "y", "change");
    name(from_queue, "z", "change_z");
  }
};
template <int Devices>
constexpr auto ring_one = fg::define(build_ring<Devices, false>{});
template <int Devices>
constexpr auto ring_spread = fg::define(build_ring<Devices, true>{});
constexpr const auto& on_two = fg::on_devices<ring_spread<2>, "/cpu:0", "/cpu:1">;
constexpr const auto& on_three = fg::on_devices<ring_spread<3>, "/cpu:0", "/cpu:1", "/cpu:2">;

int steps_asked() {
  const char* asked = std::getenv("FLOWGRAPH_ENDURANCE_STEPS");
  return asked != nullptr ? std::atoi(asked) : 10'000;
}

template <const auto& Spread, const auto& One>
void endure(int steps, unsigned seed) {
  const fg::ndarray<float, 4> x{0.5f, -0.25f, 1, 2};
  std::mt19937 random(seed);
  int failed = 0, late = 0, stopped = 0, done = 0;
  const auto one_of = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int block = 0; block < 8; ++block) {
    const int threads = 1 + block % 3;
    const auto policy = block % 2 == 0 ? fg::update_policy::consistent : fg::update_policy::overlapping;
    fg::session<Spread> s({.threads = threads,
                           .seed = 5,
                           .serial_below = 0,
                           .inter_op = fg::inter_op_policy::parallel,
                           .updates = policy});
    const auto before = std::tuple(s.template get<"a">(), s.template get<"b">(), s.template get<"c">());
    for (int i = 0; i < steps / 8; ++i) {
      std::stop_source stop;
      fails_in = one_of(3) == 0 ? one_of(12) : -1;
      fg::limits l{.stop = stop.get_token()};
      if (one_of(3) == 0) l = fg::within(std::chrono::microseconds(one_of(150)), stop.get_token());
      const bool waits = one_of(4) == 0, stops = waits || one_of(3) == 0;
      const auto n = static_cast<std::int32_t>(one_of(8));
      if (waits)
        for (int k = one_of(n + 1); k > 0; --k) s.template run<"put">(fg::feed<"x">(x));
      try {
        const auto stop_soon = [&] {
          if (!stops) return;
          for (int k = one_of(200); k > 0; --k) std::this_thread::yield();
          stop.request_stop();
        };
        if (waits) {
          auto f = s.template run_async<"z">(l, fg::feed<"n">(n), fg::feed<"x">(x));
          stop_soon();
          f.get();
        } else if (one_of(8) != 0) {
          auto f = s.template run_async<"y">(l, fg::feed<"n">(n), fg::feed<"x">(x));
          stop_soon();
          f.get();
        } else {
          const std::jthread stopper(stop_soon);
          s.template run<"y">(l, fg::feed<"n">(n), fg::feed<"x">(x));
        }
        ++done;
      } catch (const fg::deadline_error&) {
        ++late;
      } catch (const fg::cancelled_error&) {
        ++stopped;
      } catch (const fg::execution_error& e) {
        if (std::string_view(e.what()).find("broken here") == std::string_view::npos) FAIL(e.what());
        ++failed;
      }
      if (!waits || i % 64 != 0) continue;
      fails_in = -1;
      while (s.template queue<"q">().size() > 0) s.template queue<"q">().dequeue();
    }
    // A step that fails before all devices are done changes nothing, and the next one is right.
    fails_in = 4;
    CHECK_THROWS_AS((s.template run<"change">(fg::feed<"n">(8), fg::feed<"x">(x))), fg::execution_error);
    fails_in = -1;
    CHECK(std::tuple(s.template get<"a">(), s.template get<"b">(), s.template get<"c">()) == before);
    fg::session<One> one({.threads = 1, .seed = 5});
    for (const std::int32_t n : {7, 3})
      CHECK(s.template run<"y", "change">(fg::feed<"n">(n), fg::feed<"x">(x)) ==
            one.template run<"y", "change">(fg::feed<"n">(n), fg::feed<"x">(x)));
    CHECK(s.template get<"c">() == one.template get<"c">());
  }
  MESSAGE(done, " done, ", failed, " failed, ", late, " late, ", stopped, " stopped");
  if (steps < 1000) return;
  CHECK(done > 0);
  CHECK(failed > 0);
  CHECK(late > 0);
  CHECK(stopped > 0);
}

}  // namespace

TEST_CASE("endurance: devices, two of them, under random failures, deadlines and stops") {
  endure<on_two, ring_one<2>>(steps_asked() / 2, 3);
}
TEST_CASE("endurance: devices, three of them, under random failures, deadlines and stops") {
  endure<on_three, ring_one<3>>(steps_asked() / 2, 4);
}
