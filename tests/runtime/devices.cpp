// Constexpr models on several devices: placed, cut and planned by the compiler, with the numbers of one device.
#include <flowgraph/session/session.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/language/print.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/function.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

// A constraint, or none.
template <bool Spread>
constexpr auto there(fg::graph& g) {
  if constexpr (Spread)
    return g.device("/cpu:1");
  else
    return 0;
}

// The middle layer is on the second device with its variables: values cross to it and back, gradients the other way.
template <bool Spread>
struct build_mlp {
  constexpr void operator()(fg::graph& g) const {
    auto x = g.placeholder<float, batch, 8>("x");
    auto y = g.placeholder<std::int64_t, batch>("y");
    auto w1 = g.variable<float, 8, 16>("w1", fg::init::glorot_uniform());
    auto w3 = g.variable<float, 16, 4>("w3", fg::init::he_normal());
    auto h = relu(matmul(x, w1));
    auto middle = [&] {
      [[maybe_unused]] auto constraint = there<Spread>(g);
      auto w2 = g.variable<float, 16, 16>("w2", fg::init::glorot_uniform());
      auto b2 = g.variable<float, 16>("b2");
      return tanh(matmul(h, w2) + b2);
    }();
    auto logits = g.name("logits", matmul(middle + h, w3));
    auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
    g.name("train", fg::adam(0.01).minimize(loss));
  }
};
constexpr auto whole = fg::define(build_mlp<false>{});
constexpr auto spread = fg::define(build_mlp<true>{});
constexpr const auto& on_two = fg::on_devices<spread, "/cpu:0", "/cpu:1">;

// A loop whose body spans both, with a variable on the second one, and a branch with an update there.
template <bool Spread>
struct build_control {
  constexpr void operator()(fg::graph& g) const {
    auto n = g.placeholder<std::int32_t>("n");
    auto x = g.placeholder<float, 8>("x");
    auto w = [&] {
      [[maybe_unused]] auto constraint = there<Spread>(g);
      return g.variable<float, 8>("w", fg::init::constant(0.5));
    }();
    auto [turns, y] = fg::while_loop([&](auto i, auto) { return i < n; },
                                     [&](auto i, auto h) {
                                       auto here = h + 0.25f;
                                       [[maybe_unused]] auto constraint = there<Spread>(g);
                                       return std::tuple(i + 1, tanh(here * w) * h);
                                     },
                                     g.constant<std::int32_t>(0), x);
    g.name("turns", turns);
    g.name("y", y);
    auto loss = g.name("loss", reduce_sum(square(y)));
    g.name("train", fg::gradient_descent(0.5).minimize(loss));
    auto count = g.variable<float>("count");
    g.name("choose", fg::cond(
                         reduce_sum(x) > 0.f,
                         [&] {
                           [[maybe_unused]] auto constraint = there<Spread>(g);
                           return reduce_sum(x * w);
                         },
                         [&] { return reduce_sum(x); }));
    g.name("counted", fg::cond(
                          reduce_sum(x) > 0.f, [&] { return assign_add(count, 1.f); },
                          [&] {
                            [[maybe_unused]] auto constraint = there<Spread>(g);
                            return assign_add(count, reduce_sum(w));
                          }));
  }
};
constexpr auto control_whole = fg::define(build_control<false>{});
constexpr auto control_spread = fg::define(build_control<true>{});
constexpr const auto& control_on_two = fg::on_devices<control_spread, "/cpu:0", "/cpu:1">;

struct counts {
  int sends = 0, recvs = 0, there = 0, variables_there = 0;
  constexpr bool operator==(const counts&) const = default;
};
constexpr counts count(const fg::plan_view& p) {
  counts c;
  for (const fg::instruction& x : p.instructions) {
    c.sends += x.op->id == fg::ops::send::id;
    c.recvs += x.op->id == fg::ops::recv::id;
    c.there += x.device == 1;
  }
  for (const fg::variable_use& v : p.variables) c.variables_there += v.device == 1;
  return c;
}

using inputs = fg::fetch<"x", "y">;
// h goes there and comes back as the middle layer.
static_assert(fg::plan_of<on_two, fg::fetch<"logits">, fg::fetch<"x">>.fault.why == fg::problem::none);
static_assert(fg::plan_of<on_two, fg::fetch<"logits">, fg::fetch<"x">>.view().devices.count == 2);
static_assert(count(fg::plan_of<on_two, fg::fetch<"logits">, fg::fetch<"x">>.view()).sends == 2);
static_assert(count(fg::plan_of<on_two, fg::fetch<"logits">, fg::fetch<"x">>.view()).variables_there == 2);
static_assert(count(fg::plan_of<on_two, fg::fetch<"train">, inputs>.view()).sends ==
              count(fg::plan_of<on_two, fg::fetch<"train">, inputs>.view()).recvs);
static_assert(count(fg::plan_of<on_two, fg::fetch<"train">, inputs>.view()).sends > 2);
// Whatever a training step waits for on another device is one message.
static_assert([] {
  int news = 0;
  for (const fg::channel& c : fg::plan_of<on_two, fg::fetch<"train">, inputs>.view().channels) news += c.slot < 0;
  return news;
}() == 1);
// One device that satisfies every constraint has nothing to send.
static_assert(count(fg::plan_of<fg::on_devices<spread, "/cpu:1">, fg::fetch<"train">, inputs>.view()) == counts{});
// So have two, where nothing asks for the second.
static_assert(count(fg::plan_of<fg::on_devices<whole, "/cpu:0", "/cpu:1">, fg::fetch<"train">, inputs>.view()) ==
              counts{});
static_assert(fg::plan_of<fg::on_devices<spread, "/cpu:0">, fg::fetch<"train">, inputs>.fault.why ==
              fg::problem::no_device);
// What a name leaves out is of this process, in lists and constraints alike.
static_assert(fg::same_devices(fg::on_devices<spread, "/cpu:0", "/cpu:1">.devices(),
                               fg::on_devices<spread, "/job:local/cpu:00", "/task:0/cpu:1">.devices()));
static_assert(!fg::same_devices(fg::on_devices<spread, "/cpu:0", "/cpu:1">.devices(),
                                fg::on_devices<spread, "/cpu:1", "/cpu:0">.devices()));
constexpr auto asks_for_this_job = fg::define([](fg::graph& g) {
  auto constraint = g.device("/job:local/task:0/cpu:1");
  g.name("y", g.placeholder<float, 2>("x") * 2.0f);
});
static_assert(
    fg::plan_of<fg::on_devices<asks_for_this_job, "/cpu:0", "/cpu:1">, fg::fetch<"y">, fg::fetch<"x">>.fault.why ==
    fg::problem::none);
// Jobs can be tried out in one process.
constexpr auto asks_for_server = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 2>("x");
  auto constraint = g.device("/job:ps");
  g.name("y", x * g.variable<float, 2>("w", fg::init::constant(3)));
});
// Every edge is cut: more than the room that a plan is given first.
constexpr auto zigzag = fg::define([](fg::graph& g) {
  fg::tensor<float, 2> y = g.placeholder<float, 2>("x");
  for (int i = 0; i < 80; ++i) {
    auto constraint = g.device(i % 2 == 0 ? "/cpu:1" : "/cpu:0");
    y = abs(y) - 1.0f;
  }
  g.name("y", y);
});
static_assert(count(fg::plan_of<fg::on_devices<zigzag, "/cpu:0", "/cpu:1">, fg::fetch<"y">, fg::fetch<"x">>.view()) ==
              counts{80, 80, 40 + 80, 0});
// In every turn the second device is told whether there is another one.
static_assert(count(fg::plan_of<control_on_two, fg::fetch<"y">, fg::fetch<"n", "x">>.view()).sends >= 3);

struct examples {
  fg::ndarray<float, 16, 8> x;
  fg::ndarray<std::int64_t, 16> y;
  examples() {
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 8; ++j) x(i, j) = std::cos(static_cast<float>(i + 3 * j));
      y(i) = i % 4;
    }
  }
};

}  // namespace

TEST_CASE("a model that spans two devices trains as on one, bit for bit") {
  const examples e;
  fg::session<whole> one({.threads = 1, .seed = 3});
  for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
    one.initialize(3);
    fg::session<on_two> two({.threads = 2, .seed = 3, .serial_below = 0, .inter_op = inter_op});
    for (int step = 0; step < 20; ++step)
      CHECK(two.run<"loss", "train">(fg::feed<"x">(e.x), fg::feed<"y">(e.y)) ==
            one.run<"loss", "train">(fg::feed<"x">(e.x), fg::feed<"y">(e.y)));
    CHECK(two.get<"w1">() == one.get<"w1">());
    CHECK(two.get<"w2">() == one.get<"w2">());
    CHECK(two.get<"b2">() == one.get<"b2">());
    CHECK(two.run<"logits">(fg::feed<"x">(e.x)) == one.run<"logits">(fg::feed<"x">(e.x)));
  }
}

TEST_CASE("both kinds of session run the same plan on two devices") {
  fg::graph g;
  build_mlp<true>{}(g);
  const examples e;
  fg::dynamic_session dynamic(g, {.threads = 2, .seed = 3, .devices = {"/cpu:0", "/cpu:1"}});
  fg::session<on_two> fixed({.threads = 2, .seed = 3});
  auto loss = dynamic.find<float>("loss");
  auto train = dynamic.find_operation("train");
  for (int step = 0; step < 5; ++step)
    CHECK(dynamic.run(loss, train, fg::feed("x", e.x), fg::feed("y", e.y)) ==
          fixed.run<"loss", "train">(fg::feed<"x">(e.x), fg::feed<"y">(e.y)));
}

TEST_CASE("a loop whose body spans two devices, its gradient and branches give what they do on one") {
  const fg::ndarray<float, 8> x{0.5f, -0.25f, 1, 2, -3, 0.125f, 0.75f, 1.5f};
  fg::session<control_whole> one({.threads = 1});
  for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
    one.initialize(0);
    fg::session<control_on_two> two({.threads = 2, .serial_below = 0, .inter_op = inter_op});
    for (const std::int32_t n : {0, 1, 3, 7}) {
      CHECK(two.run<"turns">(fg::feed<"n">(n), fg::feed<"x">(x)) == n);
      CHECK(two.run<"loss", "train">(fg::feed<"n">(n), fg::feed<"x">(x)) ==
            one.run<"loss", "train">(fg::feed<"n">(n), fg::feed<"x">(x)));
      CHECK(two.run<"y">(fg::feed<"n">(n), fg::feed<"x">(x)) == one.run<"y">(fg::feed<"n">(n), fg::feed<"x">(x)));
      CHECK(two.get<"w">() == one.get<"w">());
    }
    fg::ndarray<float, 8> minus = x;
    for (int i = 0; i < 8; ++i) minus(i) = -x(i);
    for (const auto& fed : {x, minus}) {
      CHECK(two.run<"choose", "counted">(fg::feed<"x">(fed)) == one.run<"choose", "counted">(fg::feed<"x">(fed)));
      CHECK(two.get<"count">()() == one.get<"count">()());
    }
  }
}

TEST_CASE("the printed plan shows devices, and what is sent") {
  const std::string text = fg::to_text(fg::plan_of<on_two, fg::fetch<"logits">, fg::fetch<"x">>.view(), spread.view());
  CAPTURE(text);
  CHECK(text.find("device 0 = /cpu:0\ndevice 1 = /cpu:1\n") == 0);
  CHECK(text.find("variable : float[16, 16] \"w2\" @1") != std::string::npos);
  CHECK(text.find("variable : float[8, 16] \"w1\" @0") != std::string::npos);
  CHECK(text.find(": send(") != std::string::npos);
  CHECK(text.find(": recv()") != std::string::npos);
  fg::session<on_two> s({.threads = 1});
  const examples e;
  CHECK(s.plan_text<"logits">(fg::feed<"x">(e.x)).find("send") != std::string::npos);
  CHECK(text == fg::to_text(
                    [] {
                      constexpr std::string_view devices[] = {"/cpu:0", "/cpu:1"};
                      const int logits = spread.view().find("logits"), x = spread.view().find("x");
                      return fg::passes::plan(spread.view(), {{&logits, 1}, {&x, 1}}, {devices, 2});
                    }()
                        .view(),
                    spread.view()));
}

TEST_CASE("what takes a model or a session takes one on several devices") {
  const examples e;
  fg::session<on_two> s({.seed = 5});
  const fg::function<on_two, "logits"> f(s);
  CHECK(f(e.x) == s.run<"logits">(fg::feed<"x">(e.x)));
  const fg::function<fg::on_devices<spread, "/cpu:1", "/cpu:0">, "logits"> own({.seed = 5});
  CHECK(own(e.x) == f(e.x));
  CHECK(s.run_async<"logits">(fg::feed<"x">(e.x)).get() == f(e.x));
  fg::ndarray<float, batch, 4> out;
  s.run_into<"logits">(out, fg::feed<"x">(e.x));
  CHECK(out == f(e.x));
  fg::session<fg::on_devices<asks_for_server, "/cpu:0", "/job:ps/task:0/cpu:0">> cluster;
  CHECK(cluster.run<"y">(fg::feed<"x">(std::array{1.f, 2.f})) == fg::ndarray<float, 2>{3, 6});
}

namespace {

// A variable without a constraint, what belongs beside it, and a mistake's worth of devices.
template <bool Spread>
constexpr auto averaged = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  auto w = [&] {
    [[maybe_unused]] auto constraint = there<Spread>(g);
    return g.variable<float, 4>("w", fg::init::constant(0.5));
  }();
  auto loss = g.name("loss", reduce_sum(square(x * w - 1.0f)));
  auto train = g.name("train", fg::gradient_descent(0.01).minimize(loss));
  auto beside = g.device(w);
  auto average = g.variable<float, 4>("average");
  auto after = g.control_dependencies(train);
  g.name("averaged", assign(average, average * 0.9f + w * 0.1f));
});
constexpr const auto& averaged_on_two = fg::on_devices<averaged<true>, "/cpu:0", "/cpu:1">;
constexpr const auto& averaged_softly = fg::softly_on<averaged<true>>;
static_assert(count(fg::plan_of<averaged_on_two, fg::fetch<"averaged">, fg::fetch<"x">>.view()).variables_there == 2);
// x goes there, and nothing comes back.
static_assert(fg::bytes_sent<averaged_on_two, "loss", "averaged">() == 4 * 4);
static_assert(fg::bytes_sent<averaged_softly, "loss", "averaged">() == 0);
static_assert(averaged_softly.peak_bytes<"averaged">() == averaged<true>.peak_bytes<"averaged">());
static_assert(averaged_softly.parameters() == 8 && averaged_softly.fingerprint() == averaged<true>.fingerprint());
static_assert(fg::softly_on<averaged<true>, "/cpu:0", "/cpu:2">.devices().size() == 2);

// Two values go there, a scalar comes back: channel by channel.
constexpr auto two_values = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 8>("x");
  auto n = g.placeholder<std::int64_t, batch>("n");
  auto there = g.device("/cpu:1");
  auto y = reduce_sum(exp(x)) + cast<float>(reduce_sum(n * n));
  auto back = g.device("/cpu:0");
  g.name("y", exp(y));
});
constexpr const auto& two_values_on_two = fg::on_devices<two_values, "/cpu:0", "/job:ps/cpu:0", "/cpu:1">;
constexpr const auto& plan_of_two = fg::plan_of<two_values_on_two, fg::fetch<"y">, fg::fetch<"x", "n">>;
constexpr fg::binding ten[] = {batch(10)};
static_assert(plan_of_two.view().channels.size() == 3);
static_assert(plan_of_two.view().channels[0].from == 0 && plan_of_two.view().channels[0].to == 2 &&
              plan_of_two.view().channels[0].shared);
static_assert(fg::bytes_sent(plan_of_two.view(), plan_of_two.view().channels[0], {ten, 1}) == 10 * 8 * 4);
static_assert(fg::bytes_sent(plan_of_two.view(), plan_of_two.view().channels[1], {ten, 1}) == 10 * 8);
static_assert(fg::bytes_sent(plan_of_two.view(), plan_of_two.view().channels[2], {ten, 1}) == 4);
static_assert(fg::bytes_sent(plan_of_two.view(), {ten, 1}) == fg::bytes_sent<two_values_on_two, "y">(batch(10)));
static_assert(fg::bytes_sent(plan_of_two.view(), {ten, 0}) == -1);

}  // namespace

TEST_CASE("a model that names more devices than there are runs softly, with the same numbers") {
  const std::array<float, 4> x{1, 2, 3, 4};
  fg::session<averaged<false>> one({.threads = 1});
  fg::session<averaged_on_two> two({.threads = 2});
  fg::session<averaged_softly> softly({.threads = 1});
  fg::graph g;
  {
    auto there = g.device("/cpu:7");
    auto fed = g.placeholder<float, 4>("x");
    g.name("y", fed * 2.0f);
  }
  for (int step = 0; step < 3; ++step) {
    const float loss = one.run<"loss", "averaged">(fg::feed<"x">(x));
    CHECK(two.run<"loss", "averaged">(fg::feed<"x">(x)) == loss);
    CHECK(softly.run<"loss", "averaged">(fg::feed<"x">(x)) == loss);
  }
  CHECK(two.get<"average">() == one.get<"average">());
  CHECK(softly.get<"average">() == one.get<"average">());
  CHECK(softly.plan_text<"loss">(fg::feed<"x">(x)).find("send") == std::string::npos);
  fg::dynamic_session strict(g, {.threads = 1}), soft(g, {.threads = 1, .passes = {.soft_placement = true}});
  CHECK_THROWS_AS((void)strict.run(strict.find<float, 4>("y"), fg::feed("x", x)), fg::plan_error);
  CHECK(soft.run(soft.find<float, 4>("y"), fg::feed("x", x)) == fg::ndarray<float, 4>{2, 4, 6, 8});
}

TEST_CASE("the plan says why each instruction is where it is, and a picture shows the devices") {
  const std::string text = fg::to_text(
      fg::plan_of<averaged_on_two, fg::fetch<"loss", "averaged">, fg::fetch<"x">>.view(), averaged<true>.view());
  CAPTURE(text);
  CHECK(text.find("= channel : float[4] \"x\" @0 to @1 shared as s") != std::string::npos);
  CHECK(text.find("@1 with operands") != std::string::npos);
  CHECK(text.find("\"averaged\" @1 with state") != std::string::npos);
  const std::string dot = fg::to_dot(averaged_on_two);
  CAPTURE(dot);
  CHECK(dot.find("d1 [label=\"/cpu:1\"") != std::string::npos);
  CHECK(dot.find("[label=\"placeholder\\nx\\nfloat[4]\", style=filled, colorscheme=set312, fillcolor=1]") !=
        std::string::npos);
  CHECK(dot.find("[label=\"variable\\naverage\\nfloat[4]\", style=filled, colorscheme=set312, fillcolor=2]") !=
        std::string::npos);
}

TEST_CASE("options.devices are those of the type, or a mistake") {
  const auto refused = [](const auto& make) {
    try {
      make();
    } catch (const fg::argument_error& e) {
      return e.why();
    }
    return fg::problem::none;
  };
  CHECK(refused([] { fg::session<on_two>({.devices = {"/cpu:0", "/job:local/task:0/cpu:1"}}); }) == fg::problem::none);
  CHECK(refused([] { fg::session<whole>({.devices = {"/cpu:0"}}); }) == fg::problem::none);
  CHECK(refused([] { fg::session<whole>({.devices = {"/cpu:0", "/cpu:1"}}); }) == fg::problem::devices_differ);
  CHECK(refused([] { fg::session<on_two>({.devices = {"/cpu:1", "/cpu:0"}}); }) == fg::problem::devices_differ);
  CHECK(refused([] { fg::session<on_two>({.devices = {"/cpu:0", "/gpu:0"}}); }) == fg::problem::session_device);
  CHECK(refused([] { fg::session<on_two>({.devices = {"/cpu:0", "/cpu:0"}}); }) == fg::problem::device_twice);
  fg::graph g;
  CHECK(refused([&] {
          fg::dynamic_session(g, {.devices = {"/cpu:0", "/task:0/cpu:0"}});
        }) == fg::problem::device_twice);
  CHECK(refused([&] { fg::dynamic_session(g, {.devices = {"/job:ps"}}); }) == fg::problem::session_device);
}
