// Elements made ahead on threads: order, bounds, exceptions, and ending at any moment.
#include <flowgraph/data/from_memory.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "collect.hpp"

namespace fg = flowgraph;
using fg::testing::collect;
using fg::testing::numbers;

namespace {

auto everything = [](const auto&...) { return true; };

}  // namespace

TEST_CASE("prefetch keeps the order, on any number of threads") {
  const auto squares = fg::from_memory(numbers(300)).map([](int x) {
    if (x % 7 == 0) std::this_thread::yield();
    return x * x;
  });
  const auto expected = collect(squares);
  for (const int depth : {1, 2, 5, 400})
    for (const int threads : {1, 2, 5}) {
      CHECK(collect(squares.prefetch(depth, threads)) == expected);
      CHECK(collect(squares.filter(everything).prefetch(depth, threads)) == expected);
    }
  CHECK(collect(squares.take(0).prefetch(3, 3)).empty());
  CHECK(collect(squares.prefetch(2).prefetch(3).repeat(2)).size() == 600);
  CHECK(collect(squares.shuffle(1).batch(32).prefetch(2, 2)) == collect(squares.shuffle(1).batch(32)));
}

TEST_CASE("the work is done on other threads, no more than asked for, no further ahead than the depth") {
  std::mutex mutex;
  std::set<std::thread::id> workers;
  std::atomic<int> made = 0, used = 0, most_ahead = 0;
  const auto data = fg::from_memory(numbers(200)).map([&](int x) {
    const int ahead = ++made - used;
    for (int seen = most_ahead; ahead > seen && !most_ahead.compare_exchange_weak(seen, ahead);) {
    }
    const std::scoped_lock lock(mutex);
    workers.insert(std::this_thread::get_id());
    return x;
  });
  for (int x : data.prefetch(4, 3)) {
    CHECK(x == used);
    ++used;
  }
  CHECK(made == 200);
  CHECK(most_ahead <= 4 + 1);  // one is in the consumer's hands and not yet counted
  CHECK(workers.size() <= 3);
  CHECK(workers.count(std::this_thread::get_id()) == 0);
}

TEST_CASE("an exception comes out where its element would have") {
  const auto data = fg::from_memory(numbers(100)).map([](int x) {
    if (x >= 37) throw std::runtime_error("element " + std::to_string(x));
    return x;
  });
  const auto check = [](const auto& failing) {
    int seen = 0;
    std::string said;
    try {
      for (int x : failing) CHECK(x == seen++);
    } catch (const std::runtime_error& e) {
      said = e.what();
    }
    CHECK(seen == 37);
    CHECK(said == "element 37");
  };
  check(data.prefetch(4));
  check(data.prefetch(8, 4));
  check(data.filter(everything).prefetch(8));
  check(data.filter(everything).prefetch(2).prefetch(3));
}

TEST_CASE("a for may be left at any moment") {
  std::atomic<int> inside = 0;
  const auto data = fg::from_memory(numbers(1000)).map([&](int x) {
    ++inside;
    std::this_thread::sleep_for(std::chrono::microseconds(x % 3 * 20));
    --inside;
    return x;
  });
  for (int stop = 0; stop < 30; ++stop) {
    for (int x : data.prefetch(1 + stop % 4, 1 + stop % 3))
      if (x >= stop) break;
    CHECK(inside == 0);  // the threads have been joined
    for (int x : data.filter(everything).repeat().prefetch(2))
      if (x >= stop) break;
    CHECK(inside == 0);
  }
}

TEST_CASE("two passes at once do not disturb each other") {
  const auto data = fg::from_memory(numbers(100)).shuffle(1).prefetch(4, 2);
  auto a = data.begin();
  auto b = data.begin();
  for (int i = 0; i < 100; ++i, ++a, ++b) CHECK(*a == *b);
  CHECK(a == data.end());
}
