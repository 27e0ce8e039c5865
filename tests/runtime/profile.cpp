// What a session says of its last steps.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 64, 64>("w", fg::init::ones());
  auto h = g.name("h", matmul(x, w));
  g.name("y", reduce_sum(tanh(h) * 2.0f));
});

}  // namespace

TEST_CASE("the last steps are kept, each instruction with its times, bytes, line and provider") {
  const std::vector<float> x(32 * 64, 0.5f);
  for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
    fg::session<model> s({.threads = 2, .kernels = fg::kernels::eigen, .inter_op = inter_op, .profile = 3});
    for (int i = 0; i < 5; ++i) s.run<"y">(fg::feed<"x">(x));
    const std::vector<fg::step_profile> steps = s.profile();
    REQUIRE(steps.size() == 3);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      CHECK(steps[k].step == k + 2);
      const fg::instruction_profile* product = nullptr;
      for (const fg::instruction_profile& i : steps[k].instructions) {
        CHECK(i.begin >= 0);
        CHECK(i.begin <= i.end);
        CHECK(i.end <= steps[k].nanoseconds);
        CHECK(i.thread >= 0);
        CHECK(i.thread < 2);
        CHECK(i.provider == "flowgraph");
        if (i.node == "\"h\"") product = &i;
      }
      REQUIRE(product != nullptr);
      CHECK(product->op == "matmul");
      CHECK(product->where.find("profile.cpp:25") != std::string::npos);
      CHECK(product->bytes == 4 * (32 * 64 + 64 * 64 + 32 * 64));
    }
    const std::string table = to_text(steps);
    CHECK(table.find("3 steps, ") == 0);
    CHECK(table.find("\"h\" = matmul (flowgraph, ") != std::string::npos);
    CHECK(to_text(steps, 1).find(" more\n") != std::string::npos);
  }
}

namespace {

constexpr auto waits = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 64, 64>("x");
  auto q = fg::fifo_queue<fg::tensor<float, 64, 64>>(g, "q", 4);
  g.name("beside", reduce_sum(matmul(x, x)));
  g.name("got", q.dequeue());
});

}  // namespace

TEST_CASE("what waits begins when it goes on, and says how long it waited") {
  const fg::ndarray<float, 64, 64> x;
  for (const int threads : {1, 2}) {
    fg::session<waits> s({.threads = threads, .profile = 1});
    auto q = s.queue<"q">();
    std::int64_t waited = 0;
    for (int tries = 0; tries < 1000 && waited == 0; ++tries) {
      auto step = s.run_async<"beside", "got">(fg::feed<"x">(x));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      q.enqueue(x);
      step.get();
      const fg::step_profile last = s.profile().back();
      std::map<int, std::vector<std::pair<std::int64_t, std::int64_t>>> busy;
      for (const fg::instruction_profile& i : last.instructions) {
        busy[i.thread].emplace_back(i.begin, i.end);
        if (i.op == "dequeue") waited = i.waited;
      }
      for (auto& [_, spans] : busy) {
        std::sort(spans.begin(), spans.end());
        for (std::size_t k = 1; k < spans.size(); ++k) CHECK(spans[k - 1].second <= spans[k].first);
      }
    }
    CHECK(waited > 0);
    CHECK(to_text(s.profile()).find(", waited ") != std::string::npos);
    CHECK(top_ops(s.profile()).find("dequeue, waited ") != std::string::npos);
  }
}

TEST_CASE("nothing is kept unless it is asked for") {
  fg::session<model> s({.threads = 1});
  s.run<"y">(fg::feed<"x">(std::vector<float>(64, 1.0f)));
  CHECK(s.profile().empty());
  CHECK(to_text(s.profile()) == to_text(std::vector<fg::step_profile>{}));
}
