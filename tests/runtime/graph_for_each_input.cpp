// Sessions that run graphs which come and go: plans are found again by structure, and nothing else is taken for equal.
#include <flowgraph/session/dynamic_session.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/engine/graph_structure.hpp>
#include <flowgraph/engine/plan_shelf.hpp>
#include <flowgraph/engine/state/variable_table.hpp>
#include <flowgraph/session/eval.hpp>

namespace fg = flowgraph;
using fg::detail::graph_structure;

namespace {

constexpr int width = 6;
using vector = fg::tensor<float, 1, width>;

// A binary tree: a leaf has a word, an inner node two trees.
struct tree {
  int word = 0;
  std::vector<tree> children;
};
tree leaf(int word) { return {word, {}}; }
tree both(tree a, tree b) { return {0, {std::move(a), std::move(b)}}; }

// Which shape the tree of n leaves has is up to the bits of `shape`.
tree grow(int n, unsigned shape, int& word) {
  if (n == 1) return leaf(word++);
  const int left = 1 + static_cast<int>(shape % static_cast<unsigned>(n - 1));
  tree a = grow(left, shape / 3 + 1, word);
  return both(std::move(a), grow(n - left, shape / 5 + 2, word));
}
tree grow(int n, unsigned shape) {
  int word = 0;
  return grow(n, shape, word);
}

struct network {
  fg::graph g;
  fg::variable<float, 2 * width, width> w = g.variable<float, 2 * width, width>("w", fg::init::glorot_uniform());
  fg::variable<float, 10, width> words = g.variable<float, 10, width>("words", fg::init::normal(0, 1));

  vector encode(const tree& t) {
    if (t.children.empty()) return embedding_lookup(words, g.constant<std::int64_t, 1>({t.word % 10}));
    return tanh(matmul(concat<1>(encode(t.children[0]), encode(t.children[1])), w));
  }
};

float train_on(fg::dynamic_session& s, const tree& t) {
  network n;
  auto loss = reduce_mean(square(n.encode(t) - 0.5f));
  return s.run(loss, fg::adam(0.01).minimize(loss));
}

std::uint64_t fingerprint(const fg::graph& g) { return fg::detail::fingerprint(g.view(), {}, {}); }

template <class Error, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no exception";
}

}  // namespace

TEST_CASE("graphs that come and go: variables and the optimizer's state stay") {
  fg::dynamic_session s({.threads = 1, .seed = 3});
  const auto kept = std::make_shared<fg::variables>();
  const auto elsewhere = std::make_shared<fg::variables>();
  for (int turn = 0; turn < 12; ++turn) {
    const tree t = grow(2 + turn % 5, static_cast<unsigned>(turn));
    // The same by sessions that come and go as well, by eval, and by a session for each graph.
    network n;
    auto loss = reduce_mean(square(n.encode(t) - 0.5f));
    auto train = fg::adam(0.01).minimize(loss);
    const float expected = fg::eval({.threads = 1, .seed = 3, .variables = kept}, loss, train);
    CHECK(train_on(s, t) == expected);
    fg::dynamic_session one(n.g, {.threads = 1, .seed = 3, .variables = elsewhere});
    CHECK(one.run(loss, train) == expected);
  }
  CHECK(kept->get<std::int64_t>("adam/steps")() == 12);
  CHECK(kept->names().size() == 7);
  network n;
  CHECK(s.get(n.w)(3, 2) == kept->get<float, 2 * width, width>("w")(3, 2));
  s.set(n.w, std::vector<float>(2 * width * width, 0.0f));
  CHECK(s.run(reduce_sum(n.w)) == 0);
}

TEST_CASE("graphs that come and go: a plan is made once for each structure, and as many are kept as options say") {
  const auto shared = std::make_shared<fg::variables>();
  fg::dynamic_session s({.threads = 1, .variables = shared, .plans = 3});
  const auto shelf = shared->table().shelf();
  for (int turn = 0; turn < 30; ++turn) train_on(s, grow(4, static_cast<unsigned>(turn % 3)));
  CHECK(shelf->made() <= 3);
  CHECK(shelf->size() == shelf->made());
  for (int turn = 0; turn < 200; ++turn) train_on(s, grow(2 + turn % 7, static_cast<unsigned>(turn)));
  CHECK(shelf->size() == 3);
  const auto before = shelf->made();
  train_on(s, grow(5, 1));
  train_on(s, grow(5, 1));
  train_on(s, grow(5, 1));
  CHECK(shelf->made() <= before + 1);

  // Shapes that come once drive out nobody.
  train_on(s, grow(5, 1));
  const auto then = shelf->made();
  for (int turn = 0; turn < 40; ++turn) {
    fg::graph g;
    const float x = s.run(g.constant(static_cast<float>(turn)) * 2.0f);
    CHECK(x == static_cast<float>(2 * turn));
  }
  train_on(s, grow(5, 1));
  CHECK(shelf->made() == then);

  fg::dynamic_session none({.threads = 1, .variables = shared, .plans = 0});
  train_on(none, grow(9, 1));
  CHECK(shelf->size() == 3);
}

TEST_CASE("graphs that come and go: what differs in anything that a plan follows from is another structure") {
  const auto of = [](const std::function<void(fg::graph&)>& build) {
    auto g = std::make_unique<fg::graph>();
    build(*g);
    return g;
  };
  const std::vector<std::function<void(fg::graph&)>> all{
      [](fg::graph& g) { g.name("y", g.placeholder<float, 2>("x") + g.variable<float, 2>("v")); },
      [](fg::graph& g) { g.name("y", g.placeholder<float, 3>("x") + g.variable<float, 3>("v")); },
      [](fg::graph& g) { g.name("y", g.placeholder<double, 2>("x") + g.variable<double, 2>("v")); },
      [](fg::graph& g) { g.name("y", g.placeholder<float, 2>("x") + g.variable<float, 2>("u")); },
      [](fg::graph& g) { g.name("y", g.placeholder<float, 2>("x") - g.variable<float, 2>("v")); },
      [](fg::graph& g) {
        auto x = g.placeholder<float, 2>("x");
        auto v = g.variable<float, 2>("v");
        g.name("y", v + x);
      },
      [](fg::graph& g) {
        auto x = g.placeholder<float, 2>("x");
        auto on = g.device("/cpu:0");
        g.name("y", x + g.variable<float, 2>("v"));
      },
      [](fg::graph& g) {
        auto x = g.placeholder<float, 2>("x");
        auto on = g.device("/cpu:1");
        g.name("y", x + g.variable<float, 2>("v"));
      },
      [](fg::graph& g) { g.name("y", g.placeholder<float, 2>("x") * 2.0f + g.variable<float, 2>("v")); },
      [](fg::graph& g) { g.name("y", g.placeholder<float, 2>("x") * 3.0f + g.variable<float, 2>("v")); },
      [](fg::graph& g) { fg::fifo_queue<fg::tensor<float>>(g, "q", 2).size(); },
      [](fg::graph& g) { fg::fifo_queue<fg::tensor<float>>(g, "r", 2).size(); },
      [](fg::graph& g) {
        auto x = g.placeholder<float, fg::dim{"a"}>("x");
        g.name("y", x * 2.0f);
      },
      [](fg::graph& g) {
        auto x = g.placeholder<float, fg::dim{"b"}>("x");
        g.name("y", x * 2.0f);
      },
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto a = of(all[i]);
    const graph_structure kept(a->view());
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto b = of(all[k]);
      CHECK(kept.is(b->view()) == (i == k));
      if (i == k) CHECK(fingerprint(*a) == fingerprint(*b));
    }
  }
  // Names that nothing depends on, and lines, are no part of it.
  const auto a = of([](fg::graph& g) { g.name("y", g.placeholder<float, 2>("x") * 2.0f); });
  const auto b = of([](fg::graph& g) { g.name("other", g.placeholder<float, 2>("feed") * 2.0f); });
  CHECK(graph_structure(a->view()).is(b->view()));
  CHECK(fingerprint(*a) == fingerprint(*b));
}

TEST_CASE("graphs that come and go: other options, fetches and feeds have plans of their own") {
  const auto shared = std::make_shared<fg::variables>();
  const auto shelf = shared->table().shelf();
  const auto run = [&](const fg::session_options& o) {
    fg::graph g;
    auto x = g.placeholder<float, 2>("x");
    auto y = x * 2.0f;
    fg::dynamic_session s(o);
    const std::vector<float> one{1, 1};
    CHECK(s.run(reduce_sum(y), fg::feed("x", one)) == 4);
    CHECK(s.run(y, fg::feed(x, one))(1) == 2);
    CHECK(s.run(y, fg::feed(y, one))(1) == 1);
  };
  run({.threads = 1, .variables = shared});
  CHECK(shelf->made() == 3);
  run({.threads = 1, .variables = shared});
  CHECK(shelf->made() == 3);
  run({.threads = 2, .variables = shared});
  CHECK(shelf->made() == 6);
  run({.threads = 1, .updates = fg::update_policy::overlapping, .variables = shared});
  CHECK(shelf->made() == 9);
  run({.threads = 1, .variables = shared, .passes = {.fuse = false}});
  CHECK(shelf->made() == 12);
}

TEST_CASE("graphs that come and go: a plan outlives the session that made it, and its pool") {
  const auto shared = std::make_shared<fg::variables>();
  for (int round = 0; round < 3; ++round) {
    fg::graph g;
    auto x = g.placeholder<float, 300, 300>("x");
    auto y = reduce_sum(matmul(x, x)) + reduce_sum(matmul(x, x + 1.0f));
    int tasks = 0;
    fg::dynamic_session s(
        {.threads = 2, .serial_below = 0, .variables = shared, .schedule = [&tasks](std::function<void()> t) {
           ++tasks, t();
         }});
    s.run(y, fg::feed(x, fg::ndarray<float, 300, 300>()));
    CHECK(tasks > 0);
  }
  CHECK(shared->table().shelf()->made() == 1);
}

TEST_CASE("graphs that come and go: what only a graph of its own can answer is an error") {
  fg::dynamic_session s({.threads = 1});
  CHECK(message_of<fg::graph_error>([&] { s.find<float>("y"); }) ==
        "find: the session must have a graph of its own, as fg::dynamic_session s(g) has");
  CHECK_THROWS_AS(s.find_operation("y"), fg::graph_error);
  CHECK_THROWS_AS(s.initialize(1), fg::graph_error);
  fg::graph g, h;
  auto a = g.variable<float>("a");
  auto b = h.variable<float>("b");
  CHECK_THROWS_AS(s.run(a, b), fg::graph_error);
  CHECK_THROWS_AS(s.run(a, fg::feed(b, 1.0f)), fg::graph_error);
  CHECK_THROWS_AS(s.run(a, fg::feed("nothing", 1.0f)), fg::name_error);
  CHECK(s.run(a) == 0);
  CHECK(s.run(b) == 0);
  fg::graph wrong;
  auto c = wrong.variable<double>("a");
  CHECK(message_of<fg::graph_error>([&] { s.run(c); }).ends_with("double[] instead of float[]"));
  CHECK(s.run(a) == 0);
}

TEST_CASE("graphs that come and go: queues are shared by name as variables are") {
  fg::dynamic_session s({.threads = 1});
  for (int i = 0; i < 3; ++i) {
    fg::graph g;
    auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 10);
    auto put = q.enqueue(g.placeholder<float>("x"));
    s.run(put, fg::feed("x", static_cast<float>(i)));
    CHECK(s.queue(q).size() == i + 1);
  }
  fg::graph g;
  auto q = fg::fifo_queue<fg::tensor<float>>(g, "q", 10);
  auto sum = reduce_sum(q.dequeue_many<3>());
  fg::future<float> f = s.run_async(sum);
  CHECK(f.get() == 3);
}

TEST_CASE("graphs that come and go: eight threads build, find and evict plans of the same variables") {
  const auto shared = std::make_shared<fg::variables>();
  fg::dynamic_session s({.threads = 2, .variables = shared, .plans = 2});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        fg::graph g;
        auto n = g.variable<std::int64_t>("n");
        auto a = g.variable<float, 100>("a");
        vector x = g.constant<float, 1, width>(static_cast<float>(1));
        for (int k = 0; k < (i + t) % 4; ++k) x = x + 1.0f;
        auto both = group(assign_add(n, 1), assign_add(a, 1.0f));
        if (t % 2 == 0) {
          const auto [sum, torn] = s.run(reduce_sum(x), reduce_max(a) - reduce_min(a), both);
          wrong += sum != static_cast<float>(width * (1 + (i + t) % 4)) || torn != 0;
        } else {
          auto f = s.run_async(reduce_sum(x), both);
          wrong += f.get() != static_cast<float>(width * (1 + (i + t) % 4));
        }
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(shared->get<std::int64_t>("n")() == 160);
  CHECK(shared->table().shelf()->size() == 2);
}
