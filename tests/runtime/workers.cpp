// Kernels' helpers: every part once, the first exception back, busy pools and nested calls no obstacle.
#include <atomic>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include <unsupported/Eigen/CXX11/ThreadPool>

#include <flowgraph/engine/threads/crew.hpp>
#include <flowgraph/kernels/parallel.hpp>

namespace fg = flowgraph;

namespace {

// What a kernel sees.
struct call {
  explicit call(fg::workers& w) : context{0, 0, &w} { args.context = &context; }
  fg::kernel_context context;
  fg::kernel_args args;
};

}  // namespace

TEST_CASE("every piece of work is done once, in parts that do not depend on the number of threads") {
  for (const int threads : {1, 2, 4}) {
    Eigen::ThreadPool pool(threads);
    fg::detail::crew w(&pool, threads);
    const call c(w);
    for (const std::int64_t n : {0, 1, 63, 64, 65, 1000, 100'000}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
      std::atomic<int> odd_parts{0};
      fg::parallel_for(c.args, n, 64, [&](std::int64_t first, std::int64_t last) {
        if (first % 64 != 0 || (last - first != 64 && last != n)) ++odd_parts;
        for (std::int64_t i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      int wrong = 0;
      for (const auto& s : seen) wrong += s != 1;
      CHECK(wrong == 0);
      CHECK(odd_parts == 0);
    }
  }
}

TEST_CASE("an exception of a part ends the call, and the workers go on") {
  Eigen::ThreadPool pool(2);
  fg::detail::crew w(&pool, 2);
  const call c(w);
  for (int round = 0; round < 50; ++round) {
    CHECK_THROWS_AS(fg::parallel_for(c.args, 100, 1,
                                     [](std::int64_t first, std::int64_t) {
                                       if (first % 7 == 3) throw std::runtime_error("part");
                                     }),
                    std::runtime_error);
    std::atomic<int> done{0};
    fg::parallel_for(c.args, 100, 1, [&](std::int64_t, std::int64_t) { ++done; });
    CHECK(done == 100);
  }
}

TEST_CASE("a call from a thread of a busy pool finishes") {
  Eigen::ThreadPool pool(2);
  fg::detail::crew w(&pool, 2);
  const call c(w);
  std::atomic<int> done{0};
  fg::parallel_for(c.args, 8, 1, [&](std::int64_t, std::int64_t) {
    fg::parallel_for(c.args, 8, 1, [&](std::int64_t, std::int64_t) {
      fg::parallel_for(c.args, 8, 1, [&](std::int64_t, std::int64_t) { ++done; });
    });
  });
  CHECK(done == 512);
}

TEST_CASE("workers may end before a pool that they do not own") {
  Eigen::ThreadPool pool(1);
  for (int round = 0; round < 200; ++round) {
    fg::detail::crew w(&pool, 3);  // more helpers than the pool has threads: some start late
    const call c(w);
    std::atomic<int> done{0};
    fg::parallel_for(c.args, 4, 1, [&](std::int64_t, std::int64_t) { ++done; });
    CHECK(done == 4);
  }
}
