// Queues in the graph, against the documented behaviour of TensorFlow's.
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/runtime/session.hpp>

namespace fg = flowgraph;
using namespace std::chrono_literals;

namespace {

inline constexpr fg::dim rows{"rows"};

constexpr auto fifo = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 2>("x");
  auto n = g.placeholder<std::int64_t>("n");
  auto xs = g.placeholder<float, rows, 2>("xs");
  auto ns = g.placeholder<std::int64_t, rows>("ns");
  auto q = fg::fifo_queue<fg::tensor<float, 2>, fg::tensor<std::int64_t>>(g, "q", 4);
  g.name("put", q.enqueue(x, n));
  g.name("put_many", q.enqueue_many(xs, ns));
  const auto [a, b] = q.dequeue();
  g.name("get_x", a), g.name("get_n", b);
  const auto [as, bs] = q.dequeue_many<3>();
  g.name("get3_x", as), g.name("get3_n", bs);
  const auto [au, bu, count] = q.dequeue_up_to<3>();
  g.name("rest_x", au), g.name("rest_n", bu), g.name("rest_count", count);
  g.name("size", q.size());
  g.name("close", q.close());
  g.name("cancel", q.close(fg::pending::cancel));
});
using session = fg::session<fifo>;

void put(session& s, std::int64_t n) {
  const float x[] = {static_cast<float>(n), static_cast<float>(-n)};
  s.run<"put">(fg::feed<"x">(x), fg::feed<"n">(n));
}
std::int64_t get(session& s) {
  const auto [x, n] = s.run<"get_x", "get_n">();
  CHECK(x(0) == static_cast<float>(n));
  CHECK(x(1) == static_cast<float>(-n));
  return n;
}

}  // namespace

TEST_CASE("fifo_queue: elements leave in the order in which they came") {
  session s;
  for (int i = 1; i <= 4; ++i) put(s, i);
  CHECK(s.run<"size">() == 4);
  for (int i = 1; i <= 4; ++i) CHECK(get(s) == i);
  CHECK(s.run<"size">() == 0);
}

TEST_CASE("fifo_queue: who finds it empty waits for an element, who finds it full for room") {
  for (const auto how : {fg::inter_op_policy::automatic, fg::inter_op_policy::parallel}) {
    session s({.threads = 2, .inter_op = how});
    std::int64_t got = 0;
    std::thread consumer([&] { got = get(s); });
    std::this_thread::sleep_for(20ms);
    put(s, 7);
    consumer.join();
    CHECK(got == 7);
    for (int i = 0; i < 4; ++i) put(s, i);
    std::thread producer([&] { put(s, 4); });
    std::this_thread::sleep_for(20ms);
    CHECK(s.run<"size">() == 4);
    for (int i = 0; i < 5; ++i) CHECK(get(s) == i);
    producer.join();
  }
}

TEST_CASE("a closed queue: no more comes in, what is left goes out, then the input is at its end") {
  session s;
  put(s, 1);
  put(s, 2);
  s.run<"close">();
  CHECK_THROWS_AS(put(s, 3), fg::closed_error);
  CHECK_THROWS_AS((s.run<"get3_n">()), fg::end_of_input);
  CHECK(s.run<"size">() == 2);  // they stayed
  CHECK(get(s) == 1);
  CHECK(get(s) == 2);
  CHECK_THROWS_AS(get(s), fg::end_of_input);
  s.run<"close">();
}

TEST_CASE("a step that waits for a queue ends when its limits say so") {
  session s;
  CHECK_THROWS_AS((s.run<"get_n">(fg::within(10ms))), fg::deadline_error);
  std::stop_source stop;
  std::thread later([&] {
    std::this_thread::sleep_for(10ms);
    stop.request_stop();
  });
  CHECK_THROWS_AS((s.run<"get_n">(fg::limits{.stop = stop.get_token()})), fg::cancelled_error);
  later.join();
  put(s, 1);
  CHECK(get(s) == 1);
}
