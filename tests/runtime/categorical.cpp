// Classes drawn from logits: their frequencies against softmax, what must never be drawn, and what the draws depend on.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim draws{"draws"};
constexpr double inf = std::numeric_limits<double>::infinity();

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

inline constexpr auto shapes = fg::define([](fg::graph& g) {
  auto row = g.placeholder<float, 5>("row");
  auto rows = g.variable<fg::half, 2, 5>("rows");
  auto named = g.placeholder<double, batch, 3, 5>("named");
  auto deep = g.placeholder<float, 1, 1, 1, 1, 1, 1, 1, 5>("deep");
  static_assert(same<decltype(fg::random_categorical(row)), fg::tensor<std::int64_t>>);
  static_assert(same<decltype(fg::random_categorical(rows)), fg::tensor<std::int64_t, 2>>);
  static_assert(same<decltype(fg::random_categorical(named)), fg::tensor<std::int64_t, batch, 3>>);
  static_assert(same<decltype(fg::random_categorical(deep)), fg::tensor<std::int64_t, 1, 1, 1, 1, 1, 1, 1>>);
  static_assert(same<decltype(fg::random_categorical<4>(row)), fg::tensor<std::int64_t, 4>>);
  static_assert(same<decltype(fg::random_categorical<4>(named)), fg::tensor<std::int64_t, batch, 3, 4>>);
  static_assert(same<decltype(fg::random_categorical<draws>(rows)), fg::tensor<std::int64_t, 2, draws>>);
  g.name("one", fg::random_categorical(named));
});
static_assert(shapes.parameters() == 10);

std::vector<double> softmax_of(const std::vector<double>& logits) {
  std::vector<double> p;
  double greatest = -inf, sum = 0;
  for (const double x : logits) greatest = std::max(greatest, x);
  for (const double x : logits) sum += p.emplace_back(std::exp(x - greatest));
  for (double& x : p) x /= sum;
  return p;
}

// Pearson's statistic of draws against probabilities, which sum to 1. Infinite when something impossible was drawn.
template <class Draws>
double chi_square(const Draws& drawn, const std::vector<double>& p) {
  std::vector<double> seen(p.size());
  double n = 0, sum = 0;
  for (const std::int64_t c : drawn) {
    if (c < 0 || c >= static_cast<std::int64_t>(p.size())) return inf;
    ++seen[static_cast<std::size_t>(c)];
    ++n;
  }
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0)
      sum += std::pow(seen[i] - n * p[i], 2) / (n * p[i]);
    else if (seen[i] > 0)
      return inf;
  }
  return sum;
}

// Of six classes, five degrees of freedom: exceeded once in 10,000 times.
constexpr double bound_of_six = 25.7;

}  // namespace

TEST_CASE_TEMPLATE("classes are drawn as often as softmax says", T, float, double, fg::half, fg::bfloat16) {
  constexpr double logits[3][6] = {{0, 0, 0, 0, 0, 0}, {2, -1.5, 0.25, -4, 1, 0.5}, {1000, 998, 1001, 900, 999, 1000}};
  fg::ndarray<T, 3, 6> fed;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 6; ++k) fed(i, k) = static_cast<T>(static_cast<float>(logits[i][k]));
  fg::graph g;
  const auto x = g.placeholder<T, 3, 6>("x");
  const auto many = fg::random_categorical<20'000>(x);
  fg::dynamic_session s(g, {.seed = 11, .check_numerics = true});
  const fg::ndarray<std::int64_t, 3, 20'000> drawn = s.run(many, fg::feed(x, fed));
  for (int i = 0; i < 3; ++i) {
    INFO("row ", i);
    std::vector<double> rounded;
    for (int k = 0; k < 6; ++k) rounded.push_back(static_cast<double>(fed(i, k)));
    const std::int64_t* const row = &drawn(i, 0);
    const std::vector<std::int64_t> of_row(row, row + 20'000);
    CHECK(chi_square(of_row, softmax_of(rounded)) < bound_of_six);
    if (i > 0) CHECK(chi_square(of_row, std::vector<double>(6, 1.0 / 6)) > bound_of_six);
  }
}

TEST_CASE("each row of a batch draws a class of its own") {
  fg::graph g;
  const auto x = g.placeholder<float, batch, 6>("x");
  const auto one = fg::random_categorical(x);
  const auto as_many = fg::random_categorical<batch>(x);
  const std::vector<double> logits{0.5, 2, -1, 0, 1, -2};
  fg::ndarray<float, batch, 6> fed(batch(5000));
  for (int i = 0; i < 5000; ++i)
    for (int k = 0; k < 6; ++k) fed(i, k) = static_cast<float>(logits[static_cast<std::size_t>(k)]);
  fg::dynamic_session s(g, {.seed = 3});
  CHECK(chi_square(s.run(one, fg::feed(x, fed)), softmax_of(logits)) < bound_of_six);
  CHECK(s.run(as_many, fg::feed(x, fg::ndarray<float, batch, 6>(batch(7)))).size() == 49);
}

TEST_CASE("many rare classes make up their share, which sums of 16 or 32 bits would lose") {
  constexpr int rare = 4096;
  fg::ndarray<fg::half, rare + 1> fed;
  for (int i = 0; i < rare; ++i) fed(i) = fg::half(-8.3203125f);  // of 4096, together about as probable as the last
  fed(rare) = fg::half(0.0f);
  fg::graph g;
  const auto x = g.placeholder<fg::half, rare + 1>("x");
  const auto many = fg::random_categorical<400>(x);
  fg::dynamic_session s(g, {.seed = 5});
  const auto drawn = s.run(many, fg::feed(x, fed));
  double last = 0, sum = 0;
  for (const std::int64_t c : drawn) c == rare ? ++last : sum += static_cast<double>(c);
  CHECK(last / 400 == doctest::Approx(0.5).epsilon(0.2));
  CHECK(sum / (400 - last) == doctest::Approx(rare / 2.0).epsilon(0.2));
}

TEST_CASE_TEMPLATE("a class of logit -inf is never drawn, wherever it stands", T, float, double, fg::half,
                   fg::bfloat16) {
  const std::vector<std::vector<double>> rows{{-inf, -inf, 0, -inf, 1, -inf},
                                              {-inf, -inf, -inf, -inf, -inf, -60000},
                                              {60000, -inf, -inf, -inf, -inf, -inf},
                                              {-inf, 50000, -50000, -inf, 50000, -inf}};
  fg::graph g;
  const auto x = g.placeholder<T, batch, 6>("x");
  const auto many = fg::random_categorical<5000>(x);
  fg::dynamic_session s(g, {.seed = 8});
  for (const auto& row : rows) {
    fg::ndarray<T, batch, 6> fed(batch(1));
    for (int k = 0; k < 6; ++k) fed(0, k) = static_cast<T>(static_cast<float>(row[static_cast<std::size_t>(k)]));
    CHECK(chi_square(s.run(many, fg::feed(x, fed)), softmax_of(row)) < bound_of_six);
  }
}

TEST_CASE("draws follow from the seed and the step, not from the threads") {
  fg::graph g;
  const auto x = g.placeholder<float, 40, 300>("x");
  const auto one = fg::random_categorical(x);
  const auto again = fg::random_categorical(x);
  const auto many = fg::random_categorical<20>(x);
  const fg::ndarray<float, 40, 300> fed;
  const auto step = [&](fg::dynamic_session& s) { return s.run(one, again, many, fg::feed(x, fed)); };
  fg::dynamic_session serial(g, {.threads = 1, .seed = 5}), parallel(g, {.threads = 2, .seed = 5}),
      other(g, {.threads = 1, .seed = 6});
  const auto first = step(serial);
  CHECK(first == step(parallel));
  const auto second = step(serial);
  CHECK(second == step(parallel));
  CHECK_FALSE(std::get<0>(first) == std::get<0>(second));
  CHECK_FALSE(std::get<2>(first) == std::get<2>(second));
  CHECK_FALSE(std::get<0>(first) == std::get<1>(first));
  CHECK_FALSE(first == step(other));
}

TEST_CASE("each turn of a loop draws anew") {
  constexpr int turns = 64;
  fg::graph g;
  const auto x = g.placeholder<float, 2, 1000>("x");
  const auto start = fg::zeros<std::int64_t, 2>(g);
  const auto [last, all] = fg::scan(
      [&](auto, auto) {
        const auto drawn = fg::random_categorical(x);
        return std::tuple(drawn, drawn);
      },
      start, fg::range<std::int64_t, turns>(g));
  const fg::ndarray<float, 2, 1000> even;
  fg::dynamic_session s(g, {.seed = 4}), t(g, {.threads = 2, .seed = 4});
  const fg::ndarray<std::int64_t, turns, 2> drawn = s.run(all, fg::feed(x, even));
  CHECK(drawn == t.run(all, fg::feed(x, even)));
  CHECK_FALSE(drawn == s.run(all, fg::feed(x, even)));
  std::vector<std::int64_t> different(drawn.begin(), drawn.end());
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  CHECK(different.size() > 100);  // of 128 draws of 1,000 classes some 120 differ
}
