// Counts what a step takes from the heap: nothing, once it has run with the same extents. The sanitizers bring an
// operator new of their own, so there the count is not made.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

#include "models.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FLOWGRAPH_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FLOWGRAPH_SANITIZED
#endif
#endif

#ifndef FLOWGRAPH_SANITIZED

namespace {

std::atomic<std::int64_t> allocations{0};  // of all threads

void* counted(void* p) {
  ++allocations;
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

// g++ looks into these, but not into every operator new that it pairs them with.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

// Not inlined: g++ would see malloc end in operator delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t n) { return counted(std::malloc(n == 0 ? 1 : n)); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  const auto alignment = static_cast<std::size_t>(a);
  return counted(std::aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace fg = flowgraph;

TEST_CASE("a step allocates nothing after its first run with the same extents, however it runs") {
  std::vector<float> x(32 * 8, 0.5f);
  std::vector<std::int64_t> y(32, 1);
  // A kernel's scratch memory belongs to the thread that runs it, so each helper allocates once, whenever it first
  // takes part: then some round of steps is free of allocations, and with one thread the first one is.
  int threads = 1;
  const auto check = [&threads](const auto& step) {
    step();
    bool none = false;
    for (int round = 0; round < (threads == 1 ? 1 : 20) && !none; ++round) {
      const std::int64_t before = allocations;
      for (int i = 0; i < 20; ++i) step();
      none = allocations == before;
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

#endif
