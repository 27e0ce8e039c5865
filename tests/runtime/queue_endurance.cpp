// 16 threads on one bounded queue, closed at a random moment while steps are stopped and run out of time: no element is
// lost, none is seen twice, nobody hangs. FLOWGRAPH_ENDURANCE_SECONDS=60 makes it go on for a minute.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

inline constexpr fg::dim rows{"rows"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto id = g.placeholder<std::int64_t>("id");
  auto ids = g.placeholder<std::int64_t, rows>("ids");
  auto q = fg::fifo_queue<fg::tensor<std::int64_t>, fg::tensor<std::int64_t, 3>>(g, "q", 8);
  auto three = g.constant<std::int64_t, 3>({1, 2, 3});
  g.name("put", q.enqueue(id, id * three));
  g.name("put_many", q.enqueue_many(ids, reshape<rows, 1>(ids) * three));
  const auto [one, products] = q.dequeue();
  g.name("get", one), g.name("get_products", products);
  const auto [many, many_products] = q.dequeue_many<3>();
  g.name("get3", many), g.name("get3_products", many_products);
  const auto [some, some_products, count] = q.dequeue_up_to<5>();
  g.name("some", some), g.name("some_products", some_products), g.name("some_count", count);
});
using session = fg::session<model>;

// Steps end in many ways, and only these.
enum class end { done, given_up, closed };
template <class Step>
end attempt(const Step& step) {
  try {
    step();
    return end::done;
  } catch (const fg::deadline_error&) {
    return end::given_up;
  } catch (const fg::cancelled_error& e) {
    return e.why() == fg::problem::enqueue_cancelled ? end::closed : end::given_up;
  } catch (const fg::closed_error&) {
    return end::closed;
  } catch (const fg::end_of_input&) {
    return end::closed;
  }
}

class round_of_16 {
 public:
  explicit round_of_16(std::uint64_t seed) : seed_(seed), session_({.threads = 2}) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([this, i] { produce(i); });
    for (int i = 0; i < 8; ++i) threads.emplace_back([this, i] { consume(i); });
    std::mt19937_64 random(seed);
    // Somebody stops steps all the time, until the queue is closed.
    for (auto turns = random() % 30; turns > 0; --turns) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
      const std::lock_guard lock(mutex_);
      stop_.request_stop();
      stop_ = std::stop_source();
    }
    session_.queue<"q">().close(random() % 2 == 0 ? fg::pending::finish : fg::pending::cancel);
    threads.clear();
  }

  std::vector<std::int64_t> entered, left;
  bool whole = true;  // no element was half of another

 private:
  fg::limits within(std::mt19937_64& random) {
    const std::lock_guard lock(mutex_);
    switch (random() % 4) {
      case 0:
        return fg::within(std::chrono::microseconds(random() % 300));
      case 1:
        return fg::within(1h, stop_.get_token());
      case 2:
        return {.stop = stop_.get_token()};
      default:
        return {};
    }
  }

  void produce(int thread) {
    std::mt19937_64 random(seed_ * 100 + static_cast<std::uint64_t>(thread));
    std::vector<std::int64_t> mine;
    std::int64_t next = thread * 1'000'000'000LL;
    for (end last = end::done; last != end::closed;) {
      std::vector<std::int64_t> ids(random() % 3 == 0 ? 1 + random() % 8 : 1);
      for (std::int64_t& id : ids) id = next++;
      const fg::limits l = within(random);
      last = attempt([&] {
        if (ids.size() > 1)
          session_.run<"put_many">(l, fg::feed<"ids">(ids));
        else if (random() % 2 == 0)
          session_.run_async<"put">(l, fg::feed<"id">(ids[0])).get();
        else if (random() % 2 == 0)
          session_.queue<"q">().enqueue(l, ids[0], std::vector{ids[0], 2 * ids[0], 3 * ids[0]});
        else
          session_.run<"put">(l, fg::feed<"id">(ids[0]));
      });
      if (last == end::done) mine.insert(mine.end(), ids.begin(), ids.end());
    }
    const std::lock_guard lock(mutex_);
    entered.insert(entered.end(), mine.begin(), mine.end());
  }

  void consume(int thread) {
    std::mt19937_64 random(seed_ * 100 + 50 + static_cast<std::uint64_t>(thread));
    std::vector<std::int64_t> mine;
    bool torn = false;
    const auto got = [&](std::int64_t id, const std::int64_t* products) {
      mine.push_back(id);
      for (std::int64_t i = 0; i < 3; ++i) torn = torn || products[i] != id * (i + 1);
    };
    for (end last = end::done; last != end::closed;) {
      const fg::limits l = within(random);
      last = attempt([&] {
        const auto rows_of = [&](const auto& ids, const auto& products, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) got(ids(i), products.data() + 3 * i);
        };
        switch (random() % 5) {
          case 0: {
            const auto [id, products] = session_.run<"get", "get_products">(l);
            return got(id, products.data());
          }
          case 1: {
            const auto [id, products] = session_.run_async<"get", "get_products">(l).get();
            return got(id, products.data());
          }
          case 2: {
            const auto [ids, products] = session_.run<"get3", "get3_products">(l);
            return rows_of(ids, products, 3);
          }
          case 3: {
            const auto [ids, products, n] = session_.run<"some", "some_products", "some_count">(l);
            return rows_of(ids, products, n);
          }
          default: {
            const auto [ids, products] = session_.queue<"q">().dequeue_many(l, 2);
            return rows_of(ids, products, 2);
          }
        }
      });
    }
    // Others of these may still give elements back: one at a time takes what is left.
    const std::lock_guard lock(mutex_);
    const auto take_rest = [&] {
      const auto [id, products] = session_.run<"get", "get_products">();
      got(id, products.data());
    };
    while (attempt(take_rest) == end::done) {
    }
    whole = whole && !torn;
    left.insert(left.end(), mine.begin(), mine.end());
  }

  std::uint64_t seed_;
  session session_;
  std::mutex mutex_;
  std::stop_source stop_;
};

}  // namespace

TEST_CASE("endurance: a bounded queue under random close and cancel") {
  const char* seconds = std::getenv("FLOWGRAPH_ENDURANCE_SECONDS");
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 0);
  std::size_t rounds = 0, elements = 0;
  while (rounds < 10 || std::chrono::steady_clock::now() < until) {
    round_of_16 round(++rounds);
    std::sort(round.entered.begin(), round.entered.end());
    std::sort(round.left.begin(), round.left.end());
    elements += round.left.size();
    REQUIRE(round.whole);
    REQUIRE(round.entered == round.left);
  }
  CHECK(elements > 0);
  MESSAGE(elements << " elements in " << rounds << " rounds");
}
