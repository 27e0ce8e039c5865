// Queues in the graph, against the documented behaviour of TensorFlow's.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

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

constexpr auto kinds = fg::define([](fg::graph& g) {
  auto n = g.placeholder<std::int64_t>("n");
  auto ns = g.placeholder<std::int64_t, rows>("ns");
  auto shuffle = fg::random_shuffle_queue<fg::tensor<std::int64_t>>(g, "shuffle", 100, 3, 5);
  g.name("shuffle_put", shuffle.enqueue_many(ns));
  g.name("shuffle_get", shuffle.dequeue());
  g.name("shuffle_close", shuffle.close());
  fg::random_shuffle_queue<fg::tensor<std::int64_t>>(g, "other", 100, 3, 6);
  auto priority = fg::priority_queue<fg::tensor<float>>(g, "priority", 100);
  g.name("priority_put", priority.enqueue(n, g.placeholder<float>("value")));
  auto [first, value] = priority.dequeue();
  g.name("first", first), g.name("first_value", value);
});

// Waits in the middle of a loop, and between readers of a variable.
constexpr auto summing = fg::define([](fg::graph& g) {
  auto n = g.placeholder<std::int32_t>("n");
  auto x = g.placeholder<float>("x");
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 100);
  auto w = g.variable<float>("w", fg::init::constant(1));
  g.name("put", q.enqueue(x * w));
  auto sum = fg::while_loop([&](auto i, auto) { return i < n; },
                            [&](auto i, auto total) { return std::tuple(i + 1, total + q.dequeue()); },
                            g.constant<std::int32_t>(0), g.constant(0.0f));
  g.name("sum", std::get<1>(sum));
  g.name("train", assign_add(w, q.dequeue()));
  g.name("put_changed", q.enqueue(w + 0.0f));
});

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

TEST_CASE("dequeue_many waits for all of them, dequeue_up_to takes the rest of a closed queue") {
  session s;
  std::int64_t sum = 0;
  std::thread consumer([&] {
    const auto n = s.run<"get3_n">();
    for (const std::int64_t x : n) sum = sum * 10 + x;
  });
  for (int i = 1; i <= 3; ++i) {
    std::this_thread::sleep_for(5ms);
    CHECK(sum == 0);
    put(s, i);
  }
  consumer.join();
  CHECK(sum == 123);

  for (int i = 4; i <= 7; ++i) put(s, i);
  const auto [full, three] = s.run<"rest_n", "rest_count">();
  CHECK(three == 3);
  CHECK(full(2) == 6);
  CHECK_THROWS_AS((s.run<"rest_n">(fg::within(5ms))), fg::deadline_error);  // open: it waits for three
  CHECK(s.run<"size">() == 1);
  s.run<"close">();
  const auto [x, n, one] = s.run<"rest_x", "rest_n", "rest_count">();
  CHECK(one == 1);
  CHECK(n(0) == 7);
  CHECK(n(1) == 0);
  CHECK(n(2) == 0);
  CHECK(x(0, 1) == -7);
  CHECK(x(2, 1) == 0);
  CHECK_THROWS_AS((s.run<"rest_n">()), fg::end_of_input);
}

TEST_CASE("enqueue_many enters all at once where it fits, and in parts where it never could") {
  session s;
  const auto put_many = [&](std::int64_t first, int n, fg::limits l = {}) {
    std::vector<float> x;
    std::vector<std::int64_t> all;
    for (std::int64_t i = first; i < first + n; ++i) {
      all.push_back(i);
      x.push_back(static_cast<float>(i));
      x.push_back(static_cast<float>(-i));
    }
    s.run<"put_many">(l, fg::feed<"xs">(x), fg::feed<"ns">(all));
  };
  put_many(1, 2);
  CHECK_THROWS_AS(put_many(3, 3, fg::within(5ms)), fg::deadline_error);
  CHECK(s.run<"size">() == 2);  // none of the three
  std::thread producer([&] { put_many(3, 10); });
  for (int i = 1; i <= 12; ++i) CHECK(get(s) == i);
  producer.join();
  put_many(1, 0);
  CHECK(s.run<"size">() == 0);
}

TEST_CASE("close: what waits for room enters, or is cancelled") {
  for (const bool cancel : {false, true}) {
    session s;
    for (int i = 1; i <= 4; ++i) put(s, i);
    bool entered = false, cancelled = false;
    std::thread producer([&] {
      try {
        put(s, 5);
        entered = true;
      } catch (const fg::cancelled_error& e) {
        cancelled = e.why() == fg::problem::enqueue_cancelled;
      }
    });
    std::this_thread::sleep_for(20ms);
    if (cancel)
      s.run<"cancel">();
    else
      s.run<"close">();
    CHECK_THROWS_AS(put(s, 6), fg::closed_error);
    for (int i = 1; i <= (cancel ? 4 : 5); ++i) CHECK(get(s) == i);
    producer.join();
    CHECK(entered == !cancel);
    CHECK(cancelled == cancel);
    CHECK_THROWS_AS(get(s), fg::end_of_input);
  }
}

TEST_CASE("close wakes those who wait for elements that will not come") {
  session s;
  int ended = 0;
  std::thread consumer([&] {
    try {
      s.run<"get3_n">();
    } catch (const fg::end_of_input&) {
      ++ended;
    }
  });
  put(s, 1);
  std::this_thread::sleep_for(10ms);
  s.run<"close">();
  consumer.join();
  CHECK(ended == 1);
  CHECK(get(s) == 1);  // it was given back
}

TEST_CASE("who gives up a dequeue_many leaves the elements in their order") {
  session s;
  put(s, 1);
  put(s, 2);
  CHECK_THROWS_AS((s.run<"get3_n">(fg::within(5ms))), fg::deadline_error);
  CHECK(s.run<"size">() == 2);
  CHECK(get(s) == 1);
  CHECK(get(s) == 2);
}

TEST_CASE("errors name the node, the op, the line and the queue") {
  session s;
  s.run<"close">();
  try {
    get(s);
    FAIL("no error");
  } catch (const fg::end_of_input& e) {
    const std::string text = e.what();
    CHECK(text.find("(dequeue, ") != std::string::npos);
    CHECK(text.find("queues.cpp:") != std::string::npos);
    CHECK(text.find("queue \"q\": there is nothing left, and nothing more will come: 1 wanted, 0 left") !=
          std::string::npos);
  }
}

TEST_CASE("random_shuffle_queue: all come, in an order of the seed, with some to choose from until it is closed") {
  std::vector<std::vector<std::int64_t>> orders;
  std::vector<std::int64_t> all(50);
  for (int i = 0; i < 50; ++i) all[static_cast<std::size_t>(i)] = i;
  for (const std::uint64_t seed : {1u, 1u, 2u}) {
    fg::session<kinds> s({.seed = seed});
    s.run<"shuffle_put">(fg::feed<"ns">(all));
    std::vector<std::int64_t>& order = orders.emplace_back();
    for (int i = 0; i < 47; ++i) order.push_back(s.run<"shuffle_get">());
    CHECK_THROWS_AS((s.run<"shuffle_get">(fg::within(5ms))), fg::deadline_error);  // three stay
    s.run<"shuffle_close">();
    for (int i = 0; i < 3; ++i) order.push_back(s.run<"shuffle_get">());
    CHECK_THROWS_AS((s.run<"shuffle_get">()), fg::end_of_input);
    CHECK(!std::is_sorted(order.begin(), order.end()));
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == all);
  }
  CHECK(orders[0] == orders[1]);
  CHECK(orders[0] != orders[2]);
}

TEST_CASE("random_shuffle_queue: whichever is inside is as likely to leave") {
  fg::session<kinds> s;
  const auto q = s.queue<"other">();
  int drawn[10] = {};
  for (std::int64_t i = 0; i < 10; ++i) q.enqueue(i);
  for (int round = 0; round < 10'000; ++round) {  // of the same ten, always
    const std::int64_t i = q.dequeue();
    ++drawn[i];
    q.enqueue(i);
  }
  // chi-squared with 9 degrees of freedom: beyond 33.7 once in 10,000
  double chi = 0;
  for (const int n : drawn) chi += (n - 1000.0) * (n - 1000.0) / 1000.0;
  CHECK(chi < 33.7);
}

TEST_CASE("priority_queue: the smallest first, equals as they came") {
  fg::session<kinds> s;
  const std::int64_t priorities[] = {5, 1, 3, 1, 5, -2};
  float value = 0;
  for (const std::int64_t p : priorities) s.run<"priority_put">(fg::feed<"n">(p), fg::feed<"value">(value++));
  const std::pair<std::int64_t, float> expected[] = {{-2, 5}, {1, 1}, {1, 3}, {3, 2}, {5, 0}, {5, 4}};
  for (const auto& [priority, of] : expected) {
    const auto [first, first_value] = s.run<"first", "first_value">();
    CHECK(first == priority);
    CHECK(first_value == of);
  }
}

TEST_CASE("a step waits in the middle of a loop, and lets its variables go") {
  for (const auto how : {fg::inter_op_policy::automatic, fg::inter_op_policy::parallel})
    for (const auto policy :
         {fg::update_policy::consistent, fg::update_policy::overlapping, fg::update_policy::lock_free}) {
      fg::session<summing> s({.threads = 2, .inter_op = how, .updates = policy});
      float sum = 0;
      std::thread consumer([&] { sum = s.run<"sum">(fg::feed<"n">(3)); });
      for (int i = 1; i <= 3; ++i) {
        std::this_thread::sleep_for(2ms);
        s.run<"put">(fg::feed<"x">(static_cast<float>(i)));
      }
      consumer.join();
      CHECK(sum == 6);
      // It has w to change, and waits for what another step computes with w.
      std::thread trainer([&] { s.run<"train">(); });
      std::this_thread::sleep_for(10ms);
      s.run<"put">(fg::within(5s), fg::feed<"x">(4.0f));
      trainer.join();
      CHECK(s.get<"w">() == 5);
    }
}

TEST_CASE("the order of effects is that of the graph") {
  fg::session<summing> s;
  s.run<"put">(fg::feed<"x">(2.0f));
  s.run<"train", "put_changed">();
  CHECK(s.queue<"q">().dequeue() == 3);
}

TEST_CASE("queues from C++") {
  session s;
  const auto q = s.queue<"q">();
  q.enqueue(std::vector<float>{1, -1}, std::int64_t{1});
  q.enqueue_many(std::vector<float>{2, -2, 3, -3}, std::vector<std::int64_t>{2, 3});
  CHECK(q.size() == 3);
  CHECK(get(s) == 1);
  const auto [x, n] = q.dequeue();
  CHECK(x(1) == -2);
  CHECK(n == 2);
  put(s, 4);
  const auto [xs, ns] = q.dequeue_many(2);
  CHECK(xs.dims()[0] == 2);
  CHECK(xs(1, 0) == 4);
  CHECK(ns(0) == 3);
  CHECK_THROWS_AS(q.dequeue(fg::within(5ms)), fg::deadline_error);
  CHECK_THROWS_AS(q.enqueue(std::vector<float>{1}, std::int64_t{1}), fg::argument_error);
  CHECK_THROWS_AS(q.enqueue_many(std::vector<float>{1, 2, 3}, std::vector<std::int64_t>{2}), fg::argument_error);
  CHECK_THROWS_AS(q.dequeue_many(0), fg::argument_error);
  put(s, 5);
  CHECK(!q.closed());
  q.close();
  CHECK(q.closed());
  CHECK_THROWS_AS(q.dequeue_many(2), fg::end_of_input);
  CHECK(std::get<1>(q.dequeue_up_to(2)).size() == 1);
  CHECK_THROWS_AS(q.dequeue(), fg::end_of_input);
  CHECK_THROWS_AS(q.enqueue(std::vector<float>{1, -1}, std::int64_t{1}), fg::closed_error);
}

TEST_CASE("queues of a graph that is built at run time") {
  fg::graph g;
  auto x = g.placeholder<float, 2>("x");
  auto q = fg::fifo_queue<fg::tensor<float, 2>, fg::tensor<bool>>(g, "q", 2);
  auto put = q.enqueue(x, g.constant(true));
  auto [a, b] = q.dequeue();
  auto [many, flags] = q.dequeue_many<2>();
  fg::dynamic_session s(g);
  s.run(put, fg::feed(x, std::vector<float>{1, 2}));
  const auto [value, flag] = s.run(a, b);
  CHECK(value(1) == 2);
  CHECK(flag);
  const auto handle = s.queue(q);
  handle.enqueue(std::vector<float>{3, 4}, false);
  handle.enqueue(std::vector<float>{5, 6}, true);
  CHECK(s.run(many)(1, 0) == 5);
  CHECK_THROWS_AS((fg::fifo_queue<fg::tensor<float>>(g, "none", 0)), fg::graph_error);
  CHECK_THROWS_AS((fg::random_shuffle_queue<fg::tensor<float>>(g, "none", 4, 4)), fg::graph_error);
}

TEST_CASE("sessions share queues by name, where they are declared alike") {
  fg::graph producing, consuming, wrong;
  auto x = producing.placeholder<float>("x");
  auto put = fg::fifo_queue<fg::tensor<float>>(producing, "q", 2).enqueue(x);
  auto got = fg::fifo_queue<fg::tensor<float>>(consuming, "q", 2).dequeue();
  fg::fifo_queue<fg::tensor<float>>(wrong, "q", 3);
  const auto shared = std::make_shared<fg::resources>();
  fg::dynamic_session a(producing, {.resources = shared}), b(consuming, {.resources = shared});
  a.run(put, fg::feed(x, 3.0f));
  CHECK(b.run(got) == 3);
  CHECK_THROWS_AS(fg::dynamic_session(wrong, {.resources = shared}), fg::graph_error);
  fg::dynamic_session alone(consuming);
  CHECK_THROWS_AS(alone.run(got, fg::within(1ms)), fg::deadline_error);
}
