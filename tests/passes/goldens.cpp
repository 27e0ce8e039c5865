// Three models as they look after each pass, byte for byte: tests/golden/passes/<model>.<step>-<pass>.txt. A
// refactoring leaves them alone; a change that is meant is recorded by running this with FLOWGRAPH_UPDATE_GOLDENS=1.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <flowgraph/define.hpp>
#include <flowgraph/graph/print.hpp>
#include <flowgraph/plan/print.hpp>
#include "regions.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim batch{"batch"};

inline constexpr auto perceptron = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 8>("x");
  auto y = g.placeholder<float, batch, 2>("y");
  auto w1 = g.variable<float, 8, 4>("w1");
  auto b1 = g.variable<float, 4>("b1");
  auto w2 = g.variable<float, 4, 2>("w2");
  auto loss = reduce_mean(square(matmul(relu(matmul(x, w1) + b1), w2) - y));
  g.name("loss", loss);
  g.name("train", fg::momentum(0.1).minimize(loss));
});

inline constexpr auto two_workers = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 8>("x");
  auto on_server = [&] { return g.device("/job:ps"); };
  auto w = [&] {
    auto here = on_server();
    return g.variable<float, 8, 8>("w");
  }();
  auto half = [&](std::string_view device) {
    auto here = g.device(device);
    return tanh(matmul(x, w));
  };
  auto first = half("/job:worker/cpu:0"), second = half("/job:worker/cpu:1");
  auto loss = reduce_sum(first * second);
  g.name("loss", loss);
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
});

// A variable that changes inside a loop, and a choice inside that loop.
constexpr fg::graph_data counting() {
  fg::graph_data g;
  const fg::ref x = test_ops::placeholder(g, test_ops::shape(g.symbols.intern("batch"), 4));
  g.name(x.id, "x");
  const fg::ref turns = test_ops::variable(g, {});
  g.name(turns.id, "turns");
  const fg::ref a = x * 2.0, b = x * 2.0;
  const fg::ref y = test_ops::loop(
      a + b,
      [](fg::ref s) {
        return fg::emit<fg::ops::reduce_sum>({3, 0}, s) * 1.0;
      },
      [&](fg::ref s) {
        g.push_control(fg::emit<fg::ops::assign_add>(turns, test_ops::constant(g, {}, 1)).id);
        const fg::ref next = test_ops::choice(
            turns, [&] { return fg::emit<fg::ops::exp>(-s) + x; }, [&] { return s * s; });
        g.pop_controls(1);
        return next;
      });
  g.name(y.id, "y");
  return g;
}

void compare(const std::string& name, const std::string& text) {
  const std::string path = fg::testing::test_file("golden/passes/" + name + ".txt");
  if (const char* update = std::getenv("FLOWGRAPH_UPDATE_GOLDENS"); update && *update == '1') {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream golden;
  golden << file.rdbuf();
  INFO(path);
  CHECK(golden.str() == text);
}

void check_model(const std::string& name, const fg::graph_view& model, const std::vector<std::string_view>& fetched,
                 const std::vector<std::string_view>& fed, const std::vector<std::string_view>& devices) {
  compare(name + ".00-model", fg::to_text(model));
  std::vector<int> fetches, feeds;
  for (const std::string_view n : fetched) fetches.push_back(model.find(n));
  for (const std::string_view n : fed) feeds.push_back(model.find(n));
  int step = 0;
  const auto numbered = [&](std::string_view pass) {
    ++step;
    return name + (step < 10 ? ".0" : ".") + std::to_string(step) + "-" + std::string(pass);
  };
  const auto log = [&](std::string_view pass, int, const fg::passes::draft_view& d, fg::detail::slice<int> on = {},
                       const fg::passes::fusion& together = {}) {
    fg::print_labels labels{model, d.model, {}};
    for (int i = 0; i < on.size(); ++i) {
      std::string note = "on " + std::to_string(on[i]);
      if (i < together.of.size() && together.of[i] != 0) note += " in group " + std::to_string(together.of[i]);
      labels.notes.push_back(note);
    }
    compare(numbered(pass), fg::to_text(d.graph, labels));
  };
  const fg::plan_data p = fg::passes::plan(
      model, {{fetches.data(), static_cast<int>(fetches.size())}, {feeds.data(), static_cast<int>(feeds.size())}},
      {devices.data(), static_cast<int>(devices.size())}, {.verify = true}, log);
  CHECK(p.fault.why == fg::problem::none);
  compare(numbered("plan"), fg::to_text(p.view(), model));
}

}  // namespace

TEST_CASE("a multilayer perceptron with gradients and momentum") {
  check_model("perceptron", perceptron.view(), {"loss", "train"}, {"x", "y"}, {"/cpu:0"});
}

TEST_CASE("two CPUs of a worker and a parameter server") {
  check_model("two_workers", two_workers.view(), {"loss", "train"}, {"x"},
              {"/job:worker/task:0/cpu:0", "/job:worker/task:0/cpu:1", "/job:ps/task:0/cpu:0"});
}

TEST_CASE("a loop with a choice inside") {
  const fg::graph_data g = counting();
  check_model("loop", g.view(), {"y"}, {"x"}, {"/cpu:0"});
}
