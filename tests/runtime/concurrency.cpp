// Steps that run at the same time, instructions that do, and kernels that fail while they do.
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

#include "models.hpp"

namespace fg = flowgraph;
using models::batch;

namespace {

constexpr auto shared_state = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  auto w = g.variable<float, 64, 64>("w", fg::init::ones());
  auto n = g.variable<std::int64_t>("n");
  g.name("sum", reduce_sum(x * 2));
  g.name("total", reduce_sum(w));
  g.name("add", group(assign_add(w, 1), assign_add(n, 1)));
});

// Wide enough for several threads: eight chains of products.
constexpr auto wide = [](fg::graph& g) {
  auto x = g.placeholder<float, 32, 32>("x");
  auto sum = reduce_sum(x);
  for (int i = 0; i < 8; ++i) {
    auto y = x * static_cast<float>(i + 1);
    for (int k = 0; k < 4; ++k) y = tanh(matmul(y, x));
    sum = sum + reduce_sum(y);
  }
  g.name("sum", sum);
};

std::atomic<bool> fails{false};
void maybe_fail(fg::array_ref<const float> x, fg::array_ref<float> y) {
  if (fails) throw std::runtime_error("the disk is full");
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
}

// Which exception a step ends with, and on how many threads.
template <class Run>
void check_failure(const Run& run) {
  fails = true;
  try {
    run();
    FAIL("no exception");
  } catch (const fg::execution_error& e) {
    const std::string text = e.what();
    CHECK(e.why() == fg::problem::kernel_failed);
    CHECK(text.find("\"middle\" (host_call:maybe_fail") == 0);
    CHECK(text.find(" of float[2, 3], ") != std::string::npos);
    CHECK(text.find("concurrency.cpp:") != std::string::npos);
    CHECK(text.find("the disk is full") != std::string::npos);
    // The user's own exception is inside.
    CHECK_THROWS_AS(std::rethrow_if_nested(e), std::runtime_error);
  }
  fails = false;
}

}  // namespace

TEST_CASE("steps run at the same time; reads see whole values and no update is lost") {
  fg::session<shared_state> s({.threads = 2, .inter_op = fg::inter_op_policy::parallel});
  constexpr int steps = 50;
  std::atomic<int> torn{0}, wrong{0};
  const auto work = [&](int thread) {
    const fg::ndarray<float, batch, 4> x(batch(thread + 1));
    fg::ndarray<float, batch, 4> ones = x;
    for (float& v : ones) v = 1;
    for (int i = 0; i < steps; ++i) {
      s.run<"add">();
      const float total = s.run<"total">();
      const auto each = static_cast<std::int64_t>(total) / (64 * 64);
      if (total != static_cast<float>(each * 64 * 64)) ++torn;
      if (s.run<"sum">(fg::feed<"x">(ones)) != 8.0f * static_cast<float>(thread + 1)) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  CHECK(torn == 0);
  CHECK(wrong == 0);
  CHECK(s.get<"n">()() == 4 * steps);
  CHECK(s.get<"w">()(63, 63) == 1 + 4 * steps);
}

TEST_CASE("a wide graph gives the same numbers on every number of threads") {
  static constexpr auto model = fg::define(wide);
  fg::ndarray<float, 32, 32> x;
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) x(i, j) = 0.1f * static_cast<float>((i * 7 + j * 13) % 11 - 5);
  fg::session<model> one({.threads = 1});
  const float expected = one.run<"sum">(fg::feed<"x">(x));
  for (const int threads : {2, 3, 4}) {
    fg::session<model> many({.threads = threads, .inter_op = fg::inter_op_policy::parallel});
    for (int i = 0; i < 20; ++i) CHECK(many.run<"sum">(fg::feed<"x">(x)) == expected);
  }
}

TEST_CASE("many callers share one dynamic session and its pool") {
  fg::graph g;
  wide(g);
  fg::dynamic_session s(g, {.threads = 2, .inter_op = fg::inter_op_policy::parallel});
  auto sum = s.find<float>("sum");
  fg::ndarray<float, 32, 32> x;
  for (float& v : x) v = 0.01f;
  const float expected = s.run(sum, fg::feed("x", x));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        if (s.run(sum, fg::feed("x", x)) != expected) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("a kernel that throws ends the step, names its node, and leaves the session usable") {
  static constexpr auto model = fg::define([](fg::graph& g) {
    auto x = g.placeholder<float, batch, 3>("x");
    auto middle = g.name("middle", fg::host_call<"maybe_fail", &maybe_fail, fg::tensor<float, batch, 3>>(x));
    auto sum = reduce_sum(middle);
    for (int i = 0; i < 6; ++i) sum = sum + reduce_sum(exp(x) * static_cast<float>(i));
    g.name("sum", sum);
  });
  const std::array<float, 6> x{};
  for (const int threads : {1, 2}) {
    fg::session<model> s({.threads = threads, .inter_op = fg::inter_op_policy::parallel});
    const float expected = s.run<"sum">(fg::feed<"x">(x));
    for (int i = 0; i < 10; ++i) {
      check_failure([&] { s.run<"sum">(fg::feed<"x">(x)); });
      CHECK(s.run<"sum">(fg::feed<"x">(x)) == expected);
    }
  }
}

TEST_CASE("integers divided by zero end the step, alone and fused") {
  fg::graph g;
  auto a = g.placeholder<int, 4>("a");
  auto b = g.placeholder<int, 4>("b");
  auto quotient = g.name("quotient", floordiv(a, b));
  auto fused = g.name("fused", mod(a + 1, b * 2) * 3);
  fg::dynamic_session s(g);
  const std::array<int, 4> x{7, -7, 7, -7}, good{2, 2, -2, -2}, bad{1, 2, 0, 4};
  CHECK(s.run(quotient, fg::feed(a, x), fg::feed(b, good)) == fg::ndarray<int, 4>{3, -4, -4, 3});
  CHECK(s.run(fused, fg::feed(a, x), fg::feed(b, good)) == fg::ndarray<int, 4>{0, 6, 0, -6});
  try {
    s.run(quotient, fg::feed(a, x), fg::feed(b, bad));
    FAIL("no exception");
  } catch (const fg::execution_error& e) {
    CHECK(e.why() == fg::problem::division_by_zero);
    CHECK(std::string(e.what()).find("\"quotient\" (floordiv of int32[4], int32[4], ") == 0);
  }
  try {
    s.run(fused, fg::feed(a, x), fg::feed(b, bad));
    FAIL("no exception");
  } catch (const fg::execution_error& e) {
    CHECK(e.why() == fg::problem::division_by_zero);
    CHECK(std::string(e.what()).find("\"fused\" (") == 0);
    CHECK(std::string(e.what()).find("mod") != std::string::npos);
  }
}
