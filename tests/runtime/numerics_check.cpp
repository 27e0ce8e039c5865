// The first node that makes a NaN or an infinity is named, with what it read.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 3>("x");
  auto w = g.variable<float, 3, 2>("w", fg::init::ones());
  auto h = g.name("h", matmul(x, w));
  auto l = g.name("logs", log(h - 1.0f));
  auto loss = g.name("loss", reduce_sum(l));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
  g.name("grow", assign(w, w * 1e30f));
  g.name("ratio", 1.0f / reduce_sum(x));
});

constexpr auto guarded = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch>("x");
  auto y = fg::check_numerics(sqrt(x), "roots must be real");
  g.name("y", y * 2.0f);
  g.name("slope", fg::gradients(reduce_sum(y), x));
});

constexpr auto averaging = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 3>("x");
  auto w = g.variable<float, 3>("w", fg::init::ones());
  auto loss = g.name("loss", reduce_mean(square(x * w)));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
});

template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const fg::execution_error& e) {
    CHECK(e.why() == fg::problem::not_finite);
    return e.what();
  }
  return "no exception";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a step ends at the node that made the first NaN, with its line, the element and its operands' ranges") {
  for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
    fg::session<model> s({.threads = 2, .inter_op = inter_op, .check_numerics = true, .profile = 1});
    const fg::ndarray<float, batch, 3> good{{1, 2, 3}, {4, 5, 6}}, bad{{1, 2, 3}, {-4, 0, 1}};
    CHECK(std::isfinite(s.run<"loss", "train">(fg::feed<"x">(good))));
    const auto before = s.get<"w">();
    const std::string text = refusal([&] { s.run<"loss", "train">(fg::feed<"x">(bad)); });
    CAPTURE(text);
    CHECK(has(text, "numerics_check.cpp:23"));
    CHECK(has(text, "(log+reduce_sum"));
    CHECK(has(text, "1 of 1 elements is not finite, the first at []: "));
    CHECK(has(text, "\n  log of -"));
    CHECK(has(text, "gave NaN at [1, 0]"));
    CHECK(has(text, "\n  operand 1: float[2, 2], -"));
    CHECK(s.get<"w">() == before);  // nothing after it ran
    CHECK(std::isfinite(s.run<"loss">(fg::feed<"x">(good))));
  }
}

TEST_CASE("infinities count, updates of variables too, and one number for all elements is one number") {
  fg::session<model> s({.threads = 1, .check_numerics = true});
  const std::string ratio = refusal([&] { s.run<"ratio">(fg::feed<"x">(std::vector<float>(6))); });
  CHECK(has(ratio, "1 of 1 elements is not finite, the first at []: infinity"));
  CHECK(has(ratio, ": float[], 1 to 1"));
  CHECK(has(ratio, ": float[], 0 to 0"));
  s.run<"grow">();
  const std::string grow = refusal([&] { s.run<"grow">(); });
  CHECK(has(grow, "numerics_check.cpp:25"));
  CHECK(has(grow, "6 of 6 elements are not finite"));
  CHECK(has(grow, "1e+30 to 1e+30"));  // what the variable was before
}

TEST_CASE("the mean of an empty batch is not a number, and the check says what was empty") {
  const fg::ndarray<float, batch, 3> none(batch(0));
  fg::session<averaging> plain;
  CHECK(std::isnan(plain.run<"loss">(fg::feed<"x">(none))));
  fg::session<averaging> s({.threads = 1, .check_numerics = true});
  const std::string text = refusal([&] { s.run<"loss", "train">(fg::feed<"x">(none)); });
  CAPTURE(text);
  CHECK(has(text, "the step was fed float[0, 3]: of no elements a mean is not a number"));
  CHECK(s.get<"w">() == fg::ndarray<float, 3>{1, 1, 1});
}

TEST_CASE("nothing is checked unless it is asked for") {
  fg::session<model> s({.threads = 1});
  CHECK(std::isinf(s.run<"ratio">(fg::feed<"x">(std::vector<float>(6)))));
}

TEST_CASE("check_numerics as an op stops a step with its message, and passes values and gradients on") {
  fg::session<guarded> s({.threads = 1});
  CHECK(s.run<"y">(fg::feed<"x">(std::vector<float>{1, 4})) == fg::ndarray<float, batch>{2, 4});
  CHECK(s.run<"slope">(fg::feed<"x">(std::vector<float>{1, 4})) == fg::ndarray<float, batch>{0.5f, 0.25f});
  const std::string text = refusal([&] { s.run<"y">(fg::feed<"x">(std::vector<float>{1, -4, 2})); });
  CHECK(has(text, "check_numerics of float[3], "));
  CHECK(has(text, "numerics_check.cpp:31"));
  CHECK(has(text, "roots must be real (element 1 of 3 is "));
}
