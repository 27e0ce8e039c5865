// The same model with each provider of kernels: the same losses, and a plan that says who computes what.
#include <flowgraph/define.hpp>
#include <flowgraph/engine/built_in_providers.hpp>
#include <flowgraph/functions/neural.hpp>
#include <flowgraph/session/session.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace fg = flowgraph;

namespace {

const bool has_onednn = fg::detail::built_in_providers().everywhere != nullptr;

constexpr fg::dim batch{"batch"};
constexpr fg::conv halving{.stride = {2, 2}, .padding = fg::same};

// 4 images make convolutions and products that are worth oneDNN's while, one image does not.
constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 16, 16, 16>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto f = g.variable<float, 3, 3, 16, 32>("f", fg::init::he_normal());
  auto b = g.variable<float, 32>("b");
  auto w = g.variable<float, 2048, 10>("w", fg::init::glorot_uniform());
  auto h = fg::relu(fg::conv2d<halving>(x, f) + b);
  auto c = g.variable<float, 10>("c", fg::init::uniform(-1.0, 1.0));
  auto logits = fg::matmul(fg::reshape<batch, 2048>(h), w) + c;
  auto loss = g.name("loss", fg::reduce_mean(fg::softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::gradient_descent(0.01).minimize(loss));
});

std::vector<float> losses(const fg::session_options& o, std::size_t images) {
  fg::session<model> s(o);
  std::vector<float> x(images * 16 * 16 * 16), result;
  std::vector<std::int64_t> y(images);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::int64_t>(i % 10);
  for (int i = 0; i < 5; ++i) result.push_back(s.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y)));
  return result;
}

}  // namespace

TEST_CASE("a model trains alike with every provider and number of threads") {
  for (const std::size_t images : {1u, 4u}) {
    const auto expected = losses({.threads = 1, .seed = 3, .kernels = fg::kernels::eigen}, images);
    CHECK(expected.back() < expected.front());
    std::vector<fg::kernels> all{fg::kernels::eigen, fg::kernels::automatic};
    if (has_onednn) all.push_back(fg::kernels::onednn);
    for (const fg::kernels k : all) {
      const auto one = losses({.threads = 1, .seed = 3, .kernels = k}, images);
      const auto two = losses({.threads = 2, .seed = 3, .serial_below = 0, .kernels = k}, images);
      CHECK(one == two);  // bit for bit
      for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == doctest::Approx(expected[i]).epsilon(1e-4));
    }
  }
}

// Parts of rows and columns, each of them finished by the region behind the product.
constexpr auto wide = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 40>("x");
  auto w = g.variable<float, 40, 1100>("w", fg::init::glorot_uniform());
  auto b = g.variable<float, 1100>("b", fg::init::uniform(-1.0, 1.0));
  g.name("y", fg::relu(fg::matmul(x, w) + b));
});

TEST_CASE("what follows a product is done to each of its parts, once") {
  std::vector<float> x(70 * 40);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  const auto result = [&](int threads, fg::kernels k) {
    fg::session<wide> s({.threads = threads, .seed = 3, .kernels = k});
    return s.run<"y">(fg::feed<"x">(x));
  };
  const auto expected = result(1, fg::kernels::eigen);
  for (const int threads : {1, 2}) {
    const auto y = result(threads, has_onednn ? fg::kernels::onednn : fg::kernels::automatic);
    for (std::size_t i = 0; i < 70 * 1100; ++i)
      REQUIRE(y.data()[i] == doctest::Approx(expected.data()[i]).epsilon(1e-4).scale(0.1));
  }
}

TEST_CASE("a filter that a provider keeps in its own layout is followed when it changes") {
  const std::vector<float> x(4 * 16 * 16 * 16, 0.5f);
  const std::vector<std::int64_t> y{1, 2, 3, 4};
  std::vector<float> filter(3 * 3 * 16 * 32);
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<float>(i % 13) / 100;
  const auto history = [&](fg::kernels k) {
    fg::session<model> s({.threads = 1, .seed = 5, .kernels = k});
    const auto loss = [&] { return s.run<"loss">(fg::feed<"x">(x), fg::feed<"y">(y)); };
    std::vector<float> all{loss(), loss()};
    s.set<"f">(filter);
    all.push_back(loss());
    s.run<"train">(fg::feed<"x">(x), fg::feed<"y">(y));
    all.push_back(loss());
    s.initialize(6);
    all.push_back(loss());
    all.push_back(loss());
    return all;
  };
  const auto expected = history(fg::kernels::eigen),
             made = history(has_onednn ? fg::kernels::onednn : fg::kernels::automatic);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(made[i] == doctest::Approx(expected[i]).epsilon(1e-4));
  CHECK(made[0] == made[1]);
  CHECK(made[1] != made[2]);
  CHECK(made[2] != made[3]);
  CHECK(made[3] != made[4]);
  CHECK(made[4] == made[5]);
}

TEST_CASE("the plan of a step says whose kernel computes each node") {
  const std::vector<float> x(4 * 16 * 16 * 16);
  const std::vector<std::int64_t> y(4);
  const auto text = [&](fg::kernels k) {
    fg::session<model> s({.threads = 1, .kernels = k});
    return s.plan_text<"loss">(fg::feed<"x">(x), fg::feed<"y">(y));
  };
  const std::string own = text(fg::kernels::eigen);
  CAPTURE(own);
  CHECK(own.find("conv2d") != std::string::npos);
  CHECK(own.find("float[4, 8, 8, 32] by flowgraph\n") != std::string::npos);
  CHECK(own.find("onednn") == std::string::npos);
  if (!has_onednn) return;
  const std::string other = text(fg::kernels::onednn);
  CAPTURE(other);
  CHECK(other.find("float[4, 8, 8, 32] by onednn\n") != std::string::npos);
  CHECK(other.find("by flowgraph\n") != std::string::npos);
}
