#include <flowgraph/session/limits.hpp>
#include <flowgraph/session/session.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "models.hpp"

namespace fg = flowgraph;
using models::batch;

namespace {

constexpr auto small = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto w = g.variable<float, 2, 2>("w", fg::init::constant(2));
  auto y = g.name("y", matmul(x, w));
  g.name("z", y + 1);
  g.name("sum", reduce_sum(y));
  auto count = g.variable<std::int64_t>("count");
  auto seen = g.name("seen", assign_add(count, 1));
  g.name("both", group(seen, assign_add(w, g.constant<float, 2, 2>(1))));
});

constexpr auto difference = fg::define([](fg::graph& g) {
  auto a = g.placeholder<float, 2>("a");
  auto b = g.placeholder<float, 2>("b");
  auto w = g.variable<float>("w");
  g.name("a-b", a - b);
  g.name("2a", a * 2);
  g.name("count", assign_add(w, 1));
  g.name("tick", g.name("copy", fg::group(assign_sub(w, 0.5f))));
});

int calls = 0;
void count_call(fg::array_ref<const float>, fg::array_ref<float> out) {
  ++calls;
  for (float& x : out) x = 1;
}

}  // namespace

TEST_CASE("run gives values typed by the model") {
  fg::session<small> s;
  const fg::ndarray<float, batch, 2> x{{1, 2}, {3, 4}, {5, 6}};
  auto y = s.run<"y">(fg::feed<"x">(x));
  static_assert(std::is_same_v<decltype(y), fg::ndarray<float, batch, 2>>);
  CHECK(y == fg::ndarray<float, batch, 2>{{6, 6}, {14, 14}, {22, 22}});

  auto sum = s.run<"sum">(fg::feed<"x">(x));
  static_assert(std::is_same_v<decltype(sum), float>);
  CHECK(sum == 84);

  auto [z, again] = s.run<"z", "sum">(fg::feed<"x">(x));
  CHECK(z(2, 1) == 23);
  CHECK(again == 84);

  static_assert(std::is_void_v<decltype(s.run<"seen">())>);
  s.run<"seen">();
  auto only_value = s.run<"seen", "sum">(fg::feed<"x">(x));  // an operation gives nothing
  static_assert(std::is_same_v<decltype(only_value), float>);
  CHECK(s.get<"count">()() == 2);
}

template <fg::fixed_string... Fetch>
struct asked {
  template <class... Feeds>
  using plan = typename fg::detail::call_of<difference, std::tuple<Feeds...>, Fetch...>::plan;
};

TEST_CASE("signatures that differ only in order have one plan") {
  const std::vector<float> a{5, 7}, b{1, 2};
  const auto fed_a = fg::feed<"a">(a);
  const auto fed_b = fg::feed<"b">(b);
  using A = std::remove_cv_t<decltype(fed_a)>;
  using B = std::remove_cv_t<decltype(fed_b)>;
  using plan = asked<"a-b", "2a", "count", "tick">::plan<A, B>;
  static_assert(std::is_same_v<plan, asked<"tick", "a-b", "count", "2a">::plan<B, A>>);
  static_assert(std::is_same_v<plan, asked<"count", "copy", "a-b", "2a">::plan<B, A>>);
  static_assert(!std::is_same_v<plan, asked<"2a", "a-b", "count", "tick">::plan<A, B>>);  // values are the caller's

  fg::session<difference> s;
  using pair = fg::ndarray<float, 2>;
  const auto [d, twice] = s.run<"a-b", "2a", "count", "tick">(fed_a, fed_b);
  const auto [again, twice_again] = s.run<"tick", "a-b", "count", "2a">(fed_b, fed_a);
  const auto [first, second] = s.run_async<"2a", "tick", "a-b">(fed_b, fed_a).get();
  CHECK(d == pair{4, 5});
  CHECK(again == d);
  CHECK(twice == pair{10, 14});
  CHECK(twice_again == twice);
  CHECK(first == twice);
  CHECK(second == d);
  pair into;
  s.run_into<"a-b">(into, fed_b, fed_a);
  CHECK(into == d);
  CHECK(s.plan_text<"a-b">(fed_b, fed_a) == s.plan_text<"a-b">(fed_a, fed_b));
  CHECK(s.get<"w">()() == 0.5f);  // 2 times 1 - 0.5 and once -0.5
}

TEST_CASE("everything feedable can be fed") {
  fg::session<small> s;
  const std::vector<float> values{1, 2, 3, 4};
  const float c_array[2][2] = {{1, 2}, {3, 4}};
  const std::array<float, 4> flat{1, 2, 3, 4};
  const std::array<std::array<float, 2>, 2> rows{{{1, 2}, {3, 4}}};
  CHECK(s.run<"sum">(fg::feed<"x">(values)) == 40);
  CHECK(s.run<"sum">(fg::feed<"x">(std::span<const float>(values))) == 40);
  CHECK(s.run<"sum">(fg::feed<"x">(c_array)) == 40);
  CHECK(s.run<"sum">(fg::feed<"x">(flat)) == 40);
  CHECK(s.run<"sum">(fg::feed<"x">(rows)) == 40);
  CHECK(s.run<"sum">(fg::feed<"x">(fg::ndarray<float, 2, 2>{{1, 2}, {3, 4}})) == 40);
  CHECK(s.run<"sum">(fg::feed<"x">(std::vector<float>{})) == 0);  // a batch of nobody
}

TEST_CASE("only what the fetches need is run, and interior tensors can be fed") {
  static constexpr auto counted = fg::define([](fg::graph& g) {
    auto x = g.placeholder<float, 2>("x");
    auto slow = g.name("slow", fg::host_call<"count", &count_call, fg::tensor<float, 2>>(x));
    g.name("with", slow + 1);
    g.name("without", x + 1);
  });
  fg::session<counted> s;
  const std::array<float, 2> x{1, 2};
  calls = 0;
  CHECK(s.run<"without">(fg::feed<"x">(x)) == fg::ndarray<float, 2>{2, 3});
  CHECK(calls == 0);
  CHECK(s.run<"with">(fg::feed<"x">(x)) == fg::ndarray<float, 2>{2, 2});
  CHECK(calls == 1);
  // The feed stands for what the op would give.
  CHECK(s.run<"with">(fg::feed<"slow">(x)) == fg::ndarray<float, 2>{2, 3});
  CHECK(calls == 1);
  // What is fed can be fetched.
  CHECK(s.run<"slow">(fg::feed<"slow">(x)) == fg::ndarray<float, 2>{1, 2});
}

TEST_CASE("state is read, set, changed and begun again") {
  fg::session<small> s;
  CHECK(s.get<"w">() == fg::ndarray<float, 2, 2>{{2, 2}, {2, 2}});
  s.run<"both">();
  CHECK(s.get<"w">() == fg::ndarray<float, 2, 2>{{3, 3}, {3, 3}});
  CHECK(s.run<"w">() == s.get<"w">());
  s.set<"w">(std::array<float, 4>{1, 2, 3, 4});
  CHECK(s.get<"w">() == fg::ndarray<float, 2, 2>{{1, 2}, {3, 4}});
  s.set<"count">(std::int64_t{7});
  s.run<"seen">();
  CHECK(s.get<"count">()() == 8);
  s.initialize(0);
  CHECK(s.get<"count">()() == 0);
  CHECK(s.get<"w">()(1, 1) == 2);
}

TEST_CASE("a seed decides the first weights, whatever runs them") {
  fg::session<models::mlp> one({.threads = 1, .seed = 42}), two({.threads = 2, .seed = 42}), other({.seed = 43});
  CHECK(one.get<"w1">() == two.get<"w1">());
  CHECK(one.get<"w2">() == two.get<"w2">());
  CHECK_FALSE(one.get<"w1">() == other.get<"w1">());
  other.initialize(42);
  CHECK(other.get<"w1">() == one.get<"w1">());
  // Glorot: within sqrt(6 / (8 + 16)).
  float most = 0;
  for (const float w : one.get<"w1">()) most = std::max(most, std::abs(w));
  CHECK(most < 0.5f);
  CHECK(most > 0.45f);
}

TEST_CASE("training is the same, bit for bit, on one thread and on two") {
  fg::session<models::mlp> one({.threads = 1, .seed = 7}),
      two({.threads = 2, .seed = 7, .inter_op = fg::inter_op_policy::parallel});
  fg::ndarray<float, 32, 8> x;
  fg::ndarray<std::int64_t, 32> y;
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 8; ++j) x(i, j) = std::sin(static_cast<float>(i * 8 + j));
    y(i) = i % 4;
  }
  float first = 0, last = 0;
  for (int step = 0; step < 50; ++step) {
    last = one.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
    CHECK(last == two.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y)));
    if (step == 0) first = last;
  }
  CHECK(last < first);
  CHECK(one.get<"w1">() == two.get<"w1">());
  CHECK(one.get<"w1/accumulator">() == two.get<"w1/accumulator">());
}

TEST_CASE("a session needs a thread") {
  try {
    fg::session<small> s({.threads = 0});
    FAIL("no exception");
  } catch (const fg::argument_error& e) {
    CHECK(e.why() == fg::problem::session_threads);
    CHECK(std::string(e.what()) == "session: threads must be at least 1, got 0");
  }
}

TEST_CASE("values go into memory that the caller has") {
  fg::session<models::mlp> s({.threads = 1, .seed = 3});
  const std::vector<float> x(3 * 8, 0.5f), more(5 * 8, 0.25f);
  const std::vector<std::int64_t> y{0, 1, 2};
  const auto [loss, logits] = s.run<"loss", "logits">(fg::feed<"x">(x), fg::feed<"y">(y));

  fg::ndarray<float, batch, 4> out(batch(3));
  const float* const memory = out.data();
  float value = 0;
  s.run_into<"loss", "logits">(std::tie(value, out), fg::feed<"x">(x), fg::feed<"y">(y));
  CHECK(value == loss);
  CHECK(out == logits);
  CHECK(out.data() == memory);
  s.run_into<"logits">(fg::limits{}, out, fg::feed<"x">(more));
  CHECK(out.dim(0) == 5);

  std::vector<float> flat(3 * 4);
  fg::ndview<float, batch, 4> view(flat);
  s.run_into<"logits">(view, fg::feed<"x">(x));
  CHECK(std::equal(flat.begin(), flat.end(), logits.begin()));
  CHECK_THROWS_AS(s.run_into<"logits">(view, fg::feed<"x">(more)), fg::argument_error);
}
