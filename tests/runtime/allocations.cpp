// Counts what a step takes from the heap: what peak_bytes says, and nothing once it has run with the same extents.
#include <chrono>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

#include "counted_new.hpp"
#include "models.hpp"

namespace fg = flowgraph;

TEST_CASE("a step allocates nothing after its first run with the same extents, however it runs") {
  if (!allocations::are_counted) return;
  std::vector<float> x(32 * 8, 0.5f);
  std::vector<std::int64_t> y(32, 1);
  // A kernel's scratch memory belongs to the thread that runs it, so each helper allocates once, whenever it first
  // takes part: then some round of steps is free of allocations, and with one thread the first one is.
  int threads = 1;
  const auto check = [&threads](const auto& step) {
    step();
    bool none = false;
    for (int round = 0; round < (threads == 1 ? 1 : 20) && !none; ++round) {
      const std::int64_t before = allocations::made;
      for (int i = 0; i < 20; ++i) step();
      none = allocations::made == before;
    }
    CHECK(none);
  };
  using fg::inter_op_policy, fg::update_policy;
  const fg::session_options all[] = {
      {.threads = 1},
      {.threads = 1, .updates = update_policy::overlapping},
      {.threads = 2, .serial_below = 0, .inter_op = inter_op_policy::serial},
      {.threads = 2, .inter_op = inter_op_policy::parallel},
      {.threads = 3, .inter_op = inter_op_policy::parallel, .updates = update_policy::overlapping}};
  for (const fg::session_options& options : all) {
    threads = options.threads;
    fg::session<models::mlp> s(options);
    check([&] { s.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y)); });
    fg::ndarray<float, models::batch, 4> logits;
    float loss = 0;
    check([&] { s.run_into<"logits">(logits, fg::feed<"x">(x)); });
    check([&] { s.run_into<"loss", "logits">(std::tie(loss, logits), fg::feed<"x">(x), fg::feed<"y">(y)); });
    check([&] { s.run<"loss", "train">(fg::within(std::chrono::hours(1)), fg::feed<"x">(x), fg::feed<"y">(y)); });
  }

  fg::graph g;
  models::build_mlp(g);
  for (const fg::session_options& options : all) {
    threads = options.threads;
    fg::dynamic_session d(g, options);
    auto loss = d.find<float>("loss");
    auto train = d.find_operation("train");
    check([&] { d.run(loss, train, fg::feed("x", x), fg::feed("y", y)); });
  }
}

namespace {

using models::batch;

// Two layers with a loop in between, part of which is elsewhere: in the same memory, or in another task's.
template <bool Far>
constexpr auto split = fg::define([](fg::graph& g) {
  constexpr std::string_view elsewhere = Far ? "/job:other" : "/cpu:1";
  auto x = g.placeholder<float, batch, 8>("x");
  auto h = relu(matmul(x, g.variable<float, 8, 16>("w1", fg::init::glorot_uniform())));
  auto [turns, looped] = fg::while_loop([](auto i, auto) { return i < 3; },
                                        [&](auto i, auto v) {
                                          auto there = g.device(elsewhere);
                                          return std::tuple(i + 1, tanh(v) * 0.5f);
                                        },
                                        g.constant<std::int32_t>(0), h);
  auto there = g.device(elsewhere);
  auto y = g.name("y", matmul(looped, g.variable<float, 16, 32>("w2", fg::init::glorot_uniform())));
  auto loss = g.name("loss", reduce_mean(square(y)));
  g.name("train", fg::adam(0.01).minimize(loss));
});
constexpr const auto& near = fg::on_devices<split<false>, "/cpu:0", "/cpu:1">;
constexpr const auto& far = fg::on_devices<split<true>, "/cpu:0", "/job:other/cpu:0">;

// What one device needs, and all together.
constexpr std::int64_t near_first = fg::peak_bytes<near, "/cpu:0", "loss", "train">(batch(32));
constexpr std::int64_t near_second = fg::peak_bytes<near, "/cpu:1", "loss", "train">(batch(32));
static_assert(near_first > 0 && near_second > 0);
static_assert(near_first + near_second == near.peak_bytes<"loss", "train">(batch(32)));

}  // namespace

TEST_CASE("a first step allocates what peak_bytes says, on one device and on several") {
  if (!allocations::are_counted) return;
  const std::vector<float> x(1024 * 8, 0.5f);
  const std::vector<std::int64_t> y(1024, 1);
  const auto taken = [](const auto& step) {
    const std::int64_t before = allocations::value_bytes;
    step();
    return allocations::value_bytes - before;
  };
  const std::vector<float> few(x.begin(), x.begin() + 32 * 8);
  const auto check = [&]<const auto & Model>() {
    fg::session<Model> s({.threads = 1});
    CHECK(taken([&] { s.template run<"loss", "train">(fg::feed<"x">(few)); }) ==
          Model.template peak_bytes<"loss", "train">(batch(32)));
    // A large value leaves with its memory: part of the plan's, though not of an arena.
    CHECK(taken([&] { s.template run<"y">(fg::feed<"x">(x)); }) == Model.template peak_bytes<"y">(batch(1024)));
  };
  const auto check_one = [&] {
    fg::session<models::mlp> s({.threads = 1});
    return taken([&] { s.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y)); });
  };
  check_one();  // the scratch memory of kernels belongs to the thread
  CHECK(check_one() == models::mlp.peak_bytes<"loss", "train">(batch(1024)));
  fg::session<near>({.threads = 1}).run<"loss", "train">(fg::feed<"x">(x));
  check.template operator()<near>();
  check.template operator()<far>();
}
