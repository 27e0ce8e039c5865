// Sessions that share variables: by name, initialised once, and what each update policy promises then. Run under
// ThreadSanitizer, too.
#include <flowgraph/session/variables.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

// a and b change together: whoever sees them differ has seen half a step.
constexpr auto writer = fg::define([](fg::graph& g) {
  auto a = g.variable<float, 1000>("a");
  auto b = g.variable<float, 1000>("b");
  g.name("add", group(assign_add(a, 1), assign_add(b, 1), assign_add(g.variable<std::int64_t>("n"), 1)));
  auto before = identity(a);
  g.name("add_slowly", assign(a, exp(log(before + 1.0f))));
});
// The same variables, in another order and beside others.
constexpr auto reader = fg::define([](fg::graph& g) {
  auto own = g.variable<float, 3>("only_here");
  auto b = g.variable<float, 1000>("b");
  auto a = g.variable<float, 1000>("a");
  g.name("difference", reduce_sum(abs(a - b)));
  g.name("spread", reduce_max(a) - reduce_min(a));
  g.name("swap", group(assign(b, a + 0.0f), assign(a, b + 0.0f), assign_add(own, 1)));
  g.name("sum_a", reduce_sum(a));
});

constexpr fg::dim rows{"rows"};

constexpr auto linear = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, rows, 4>("x");
  auto y = g.placeholder<float, rows, 1>("y");
  auto w = g.variable<float, 4, 1>("w", fg::init::normal(0, 1));
  auto loss = g.name("loss", reduce_mean(square(matmul(x, w) - y)));
  g.name("train", fg::adam(0.1).minimize(loss));
});

template <class Work>
void on_threads(int count, const Work& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&work, t] { work(t); });
  for (std::thread& t : threads) t.join();
}

template <class Error, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no exception";
}

const std::vector<float> x{1, 2, 3, 4, 0, 1, 0, 1, 2, 0, 1, 0}, y{1, 2, 3};

}  // namespace

TEST_CASE("shared variables: what one session trains another one has, with the optimizer's state") {
  const auto shared = std::make_shared<fg::variables>();
  fg::session<linear> a({.threads = 1, .seed = 3, .variables = shared});
  fg::session<linear> b(
      {.threads = 1, .seed = 4, .variables = shared});  // finds what is there: its seed begins nothing
  fg::session<linear> alone({.threads = 1, .seed = 3});
  CHECK(a.get<"w">()(2, 0) == alone.get<"w">()(2, 0));
  CHECK(b.get<"w">()(2, 0) == alone.get<"w">()(2, 0));
  for (int i = 0; i < 6; ++i) {
    fg::session<linear>& turn = i % 2 == 0 ? a : b;
    CHECK(turn.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y)) ==
          alone.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y)));
  }
  CHECK(b.get<"adam/steps">() == 6);
  CHECK(shared->get<std::int64_t>("adam/steps")() == 6);
}

TEST_CASE("shared variables: graphs built by the program share with models, and with graphs that are gone") {
  const auto shared = std::make_shared<fg::variables>();
  {
    fg::graph g;
    auto w = g.variable<float, 4, 1>("w");
    fg::dynamic_session s(g, {.threads = 1, .variables = shared});
    s.set(w, std::vector<float>{1, 2, 3, 4});
  }
  fg::session<linear> model({.threads = 1, .variables = shared});
  CHECK(model.get<"w">()(3, 0) == 4);
  fg::graph g;
  auto w = g.variable<float, 4, 1>("w", fg::init::ones());
  auto sum = reduce_sum(w);
  fg::dynamic_session s(g, {.threads = 1, .variables = shared});
  CHECK(s.run(sum) == 10);
  auto late = g.variable<float, 2>("late", fg::init::constant(7));  // a graph that grows brings more
  CHECK(s.run(reduce_sum(late)) == 14);
  CHECK(shared->contains("late"));
  s.initialize(9);  // those of this session's graph alone, as its graph says
  CHECK(model.get<"w">()(0, 0) == 1);
}

TEST_CASE("shared variables: another type or other extents are an error that names the variable and both") {
  const auto shared = std::make_shared<fg::variables>();
  const fg::session<linear> first({.threads = 1, .variables = shared});
  const auto declared = [&](auto declare) {
    return message_of<fg::graph_error>([&] {
      fg::graph g;
      g.variable<float, 2>("new");
      declare(g);
      const fg::dynamic_session s(g, {.threads = 1, .variables = shared});
    });
  };
  const std::string shape = declared([](fg::graph& g) { g.variable<float, 5, 1>("w"); });
  CHECK(shape.find("\"w\" (") == 0);
  CHECK(shape.find("shared_variables.cpp:") != std::string::npos);
  CHECK(
      shape.ends_with(": a variable of this name exists with another element type or other extents: float[5, 1] "
                      "instead of float[4, 1]"));
  CHECK(declared([](fg::graph& g) { g.variable<double, 4, 1>("w"); }).ends_with("double[4, 1] instead of float[4, 1]"));
  CHECK(declared([](fg::graph& g) { g.variable<float, 4>("w"); }).ends_with("float[4] instead of float[4, 1]"));
  CHECK_FALSE(shared->contains("new"));  // all or none

  // A graph that grows wrong, and may not be used for what is wrong in it.
  fg::graph g;
  auto w = g.variable<float, 4, 1>("w");
  fg::dynamic_session s(g, {.threads = 1, .variables = shared});
  auto sum = reduce_sum(w);
  s.run(sum);
  const auto inside = g.scope("w");
  g.variable<float>("mean");
  CHECK_THROWS_AS(s.get(w), fg::graph_error);
  CHECK_THROWS_AS(s.run(sum + 1.0f), fg::graph_error);
}

TEST_CASE("shared variables: by name from C++") {
  fg::variables v;
  CHECK(v.names().empty());
  CHECK(message_of<fg::name_error>([&] { v.get<float>("w"); }) ==
        "\"w\": no session has brought a variable of this name");
  const auto shared = std::make_shared<fg::variables>();
  { const fg::session<linear> s({.threads = 1, .variables = shared}); }
  CHECK(shared->names() == std::vector<std::string>{"w", "w/mean", "w/squares", "adam/steps"});
  shared->set("w", std::vector<float>{4, 3, 2, 1});
  CHECK(shared->get<float, 4, 1>("w")(0, 0) == 4);
  CHECK(message_of<fg::graph_error>([&] { shared->get<float, 4>("w"); }).ends_with("float[4] instead of float[4, 1]"));
  CHECK(message_of<fg::feed_error>([&] { shared->set("w", std::vector<float>{1}); }) ==
        "set \"w\": expected float[4, 1], got 1 float values");
}

TEST_CASE("shared variables: many sessions that begin at once initialise each variable once") {
  for (int round = 0; round < 20; ++round) {
    const auto shared = std::make_shared<fg::variables>();
    std::vector<float> seen(4);
    on_threads(4, [&](int t) {
      fg::session<linear> s({.threads = 1, .seed = static_cast<std::uint64_t>(t), .variables = shared});
      seen[static_cast<std::size_t>(t)] = s.get<"w">()(1, 0);
    });
    CHECK(seen == std::vector<float>(4, seen[0]));
  }
}

TEST_CASE(
    "consistent: sessions that share variables see each other's steps whole, whatever the order of their graphs") {
  for (const auto inter_op : {fg::inter_op_policy::automatic, fg::inter_op_policy::parallel}) {
    const auto shared = std::make_shared<fg::variables>();
    fg::session<writer> w({.threads = 2, .inter_op = inter_op, .variables = shared});
    fg::session<reader> r({.threads = 2, .inter_op = inter_op, .variables = shared});
    std::atomic<int> halves{0}, torn{0};
    on_threads(8, [&](int t) {
      fg::session<writer> another({.threads = 1, .variables = shared});
      for (int i = 0; i < 40; ++i) {
        if (t < 2) w.run<"add">();
        if (t == 2) another.run<"add">();
        if (t == 3) r.run<"swap">();
        if (t == 4) halves += r.run<"difference">() != 0;
        if (t == 5) torn += r.run<"spread">() != 0;
        if (t == 6)
          for (const auto all = r.get<"a">(); const float v : all) torn += v != all(0);
        if (t == 7 && i % 10 == 0) w.initialize(static_cast<std::uint64_t>(i));
      }
    });
    CHECK(halves == 0);
    CHECK(torn == 0);
    w.initialize(1);
    on_threads(4, [&](int t) {
      fg::session<writer> another({.threads = 1, .variables = shared});
      for (int i = 0; i < 10; ++i) (t < 2 ? w : another).run<"add_slowly">();
    });
    CHECK(r.get<"a">()(17) == doctest::Approx(40).epsilon(1e-3));
  }
}

TEST_CASE("overlapping: sessions that share variables read whole values and lose no update") {
  const auto shared = std::make_shared<fg::variables>();
  const auto updates = fg::update_policy::overlapping;
  fg::session<reader> r({.threads = 2, .updates = updates, .variables = shared});
  std::atomic<int> torn{0};
  on_threads(6, [&](int t) {
    // One of them is consistent: its steps are whole to others, and their instructions mix around it.
    fg::session<writer> w(
        {.threads = 1, .updates = t == 0 ? fg::update_policy::consistent : updates, .variables = shared});
    for (int i = 0; i < 40; ++i) {
      if (t < 4) w.run<"add">();
      if (t == 4) torn += static_cast<std::int64_t>(r.run<"sum_a">()) % 1000 != 0;
      if (t == 5)
        for (const auto all = r.get<"b">(); const float v : all) torn += v != all(0);
    }
  });
  CHECK(torn == 0);
  CHECK(shared->get<std::int64_t>("n")() == 160);
  CHECK(r.get<"a">()(999) == 160);
}

TEST_CASE("lock_free: sessions that share variables are all so, or none is") {
  const auto shared = std::make_shared<fg::variables>();
  constexpr auto lock_free = fg::update_policy::lock_free;
  {
    fg::session<writer> a({.threads = 1, .updates = lock_free, .variables = shared});
    fg::session<writer> b({.threads = 1, .updates = lock_free, .variables = shared});
    CHECK(message_of<fg::argument_error>([&] { fg::session<reader> c({.threads = 1, .variables = shared}); }) ==
          "session: of sessions that share variables all must be lock_free, or none");
    a.run<"add">();
    b.run<"add">();
  }
  fg::session<reader> c({.threads = 1, .variables = shared});
  CHECK(c.get<"a">()(0) == 2);
  CHECK_THROWS_AS(fg::session<writer>({.threads = 1, .updates = lock_free, .variables = shared}), fg::argument_error);
}

TEST_CASE("shared variables: kept copies of weights follow what other sessions do to them") {
  const auto shared = std::make_shared<fg::variables>();
  fg::graph g;
  auto in = g.placeholder<float, 64, 64>("in");
  auto w = g.variable<float, 64, 64>("weights", fg::init::identity());
  auto out = matmul(in, w);
  auto change = assign(w, w * 2.0f);
  fg::dynamic_session serves(g, {.threads = 1, .variables = shared});
  fg::dynamic_session trains(g, {.threads = 1, .variables = shared});
  const std::vector<float> ones(64 * 64, 1.0f);
  for (float expected = 1; expected < 20; expected *= 2) {
    CHECK(serves.run(out, fg::feed(in, ones))(63, 63) == expected);
    CHECK(serves.run(out, fg::feed(in, ones))(0, 63) == expected);
    trains.run(change);
  }
}
