// lstm and gru beside PyTorch's: values, and derivatives by the sequence, the initial states and all weights.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>
#include "../../bench/support/inputs.hpp"
#include "support/golden.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;
namespace layers = flowgraph::layers;

namespace {

constexpr fg::dim duration{"duration"};
constexpr int batch = 3, inputs = 2, units = 3;
constexpr std::size_t steps = 4;

std::vector<double> numbers(std::size_t n, std::uint32_t salt, float scale = 1) {
  const auto v = bench::numbers(n, salt, scale);
  return {v.begin(), v.end()};
}

fg::testing::golden_case golden(const std::string& name) {
  for (const auto& c : fg::testing::read_goldens(fg::testing::test_file("golden/recurrent.txt")))
    if (c.name == name) return c;
  throw std::out_of_range(name);
}

template <class Array>
void check(const fg::testing::golden_array& expected, const Array& got) {
  REQUIRE(static_cast<std::size_t>(got.size()) == expected.values.size());
  std::size_t i = 0;
  for (const double x : got) {
    CAPTURE(i);
    CHECK(x == doctest::Approx(expected.values[i++]).epsilon(1e-9));
  }
}

struct variant {
  bool lstm = false, batch_first = false, bidirectional = false, masked = false;
};

// A training step at the rate 1, so that a parameter's change is its gradient.
template <variant V>
constexpr auto trained = fg::define([](fg::graph& g) {
  constexpr layers::recurrent options{.batch_first = V.batch_first, .bidirectional = V.bidirectional};
  auto x = [&] {
    if constexpr (V.batch_first)
      return g.placeholder<double, batch, duration, inputs>("x");
    else
      return g.placeholder<double, duration, batch, inputs>("x");
  }();
  auto state = [&](const char* name) {
    if constexpr (V.bidirectional)
      return g.placeholder<double, 2, batch, units>(name);
    else
      return g.placeholder<double, batch, units>(name);
  };
  auto lengths = [&] {
    if constexpr (V.masked)
      return g.placeholder<std::int64_t, batch>("lengths");
    else
      return fg::detail::absent{};
  }();
  auto h0 = state("h0"), wh = state("wh");
  auto loss = g.constant<double>(0);
  // What each kind gives, before the parameters change.
  const auto weigh = [&](const auto& y, const auto& h) {
    auto wy =
        g.placeholder<double, fg::extent_v<0, decltype(y)>, fg::extent_v<1, decltype(y)>, fg::extent_v<2, decltype(y)>>(
            "wy");
    loss = fg::reduce_sum(y * wy) + fg::reduce_sum(h * wh);
    g.name("y", y);
    g.name("h", h);
  };
  if constexpr (V.lstm) {
    auto c0 = state("c0"), wc = state("wc");
    const auto [y, h, c] = layers::lstm<units, options>(x, "net", std::tuple(h0, c0), lengths);
    weigh(y, h);
    loss = loss + fg::reduce_sum(c * wc);
    g.name("c", c);
    g.name("dc", fg::gradients(loss, c0));
  } else {
    const auto [y, h] = layers::gru<units, options>(x, "net", h0, lengths);
    weigh(y, h);
  }
  g.name("dx", fg::gradients(loss, x));
  g.name("dh", fg::gradients(loss, h0));
  g.name("train", fg::gradient_descent(1.0).minimize(loss));
});

template <variant V>
void compare(const std::string& name) {
  CAPTURE(name);
  constexpr std::size_t directions = V.bidirectional ? 2 : 1, gates = V.lstm ? 4 : 3;
  const auto expected = golden(name).out;
  fg::session<trained<V>> s({.threads = 2});
  std::vector<std::vector<double>> weights;
  for (std::uint32_t d = 0; d < directions; ++d) {
    const std::size_t sizes[] = {gates * units * inputs, gates * units * units, gates * units, gates * units};
    for (std::uint32_t k = 0; k < 4; ++k) weights.push_back(numbers(sizes[k], 10 + 4 * d + k, 0.7f));
  }
  s.template set<"net/weight_ih_l0">(weights[0]);
  s.template set<"net/weight_hh_l0">(weights[1]);
  s.template set<"net/bias_ih_l0">(weights[2]);
  s.template set<"net/bias_hh_l0">(weights[3]);
  if constexpr (V.bidirectional) {
    s.template set<"net/weight_ih_l0_reverse">(weights[4]);
    s.template set<"net/weight_hh_l0_reverse">(weights[5]);
    s.template set<"net/bias_ih_l0_reverse">(weights[6]);
    s.template set<"net/bias_hh_l0_reverse">(weights[7]);
  }
  constexpr std::size_t cells = directions * batch * units;
  const auto x = numbers(steps * batch * inputs, 0), wy = numbers(steps * cells, 5);
  const auto h0 = numbers(cells, 1, 0.5f), c0 = numbers(cells, 2, 0.5f), wh = numbers(cells, 6), wc = numbers(cells, 7);
  const std::vector<std::int64_t> lengths{2, 4, 1};
  // Feeds of some variants only.
  const auto run = [&](const auto&... more) {
    const auto given =
        std::tuple(fg::feed<"x">(x), fg::feed<"wy">(wy), fg::feed<"h0">(h0), fg::feed<"wh">(wh), more...);
    return std::apply(
        [&](const auto&... feeds) {
          if constexpr (V.lstm)
            return s.template run<"y", "h", "c", "dx", "dh", "dc", "train">(feeds..., fg::feed<"c0">(c0),
                                                                            fg::feed<"wc">(wc));
          else
            return s.template run<"y", "h", "dx", "dh", "train">(feeds...);
        },
        given);
  };
  std::size_t k = 0;
  const auto compare_all = [&](const auto& results) {
    std::apply([&](const auto&... each) { (check(expected[k++], each), ...); }, results);
  };
  if constexpr (V.masked)
    compare_all(run(fg::feed<"lengths">(lengths)));
  else
    compare_all(run());
  const auto compare_change = [&](const auto& now) {
    std::vector<double> gradient = weights.front();
    weights.erase(weights.begin());
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= now.data()[i];
    check(expected[k++], gradient);
  };
  compare_change(s.template get<"net/weight_ih_l0">());
  compare_change(s.template get<"net/weight_hh_l0">());
  compare_change(s.template get<"net/bias_ih_l0">());
  compare_change(s.template get<"net/bias_hh_l0">());
  if constexpr (V.bidirectional) {
    compare_change(s.template get<"net/weight_ih_l0_reverse">());
    compare_change(s.template get<"net/weight_hh_l0_reverse">());
    compare_change(s.template get<"net/bias_ih_l0_reverse">());
    compare_change(s.template get<"net/bias_hh_l0_reverse">());
  }
  CHECK(k == expected.size());
}

// Weights of one's own, here fed; no biases.
template <bool Lstm>
constexpr auto functional = fg::define([](fg::graph& g) {
  constexpr int rows = (Lstm ? 4 : 3) * units;
  auto w_ih = g.placeholder<double, rows, inputs>("w_ih");
  auto w_hh = g.placeholder<double, rows, units>("w_hh");
  auto h0 = g.placeholder<double, batch, units>("h0");
  const fg::recurrent_weights weights{w_ih, w_hh};
  if constexpr (Lstm) {
    auto x = g.placeholder<double, batch, duration, inputs>("x");
    auto c0 = g.placeholder<double, batch, units>("c0");
    auto [y, h, c] = fg::lstm<fg::sequence{.batch_first = true}>(x, std::tuple(h0, c0), weights);
    g.name("y", y);
    auto [h1, c1] = fg::lstm_cell(fg::reshape<batch, inputs>(fg::slice<fg::from<0, 0, 0>, batch, 1, inputs>(x)),
                                  std::tuple(h0, c0), weights);
    g.name("h1", h1);
  } else {
    auto x = g.placeholder<double, duration, batch, inputs>("x");
    auto [y, h] = fg::gru(x, h0, weights);
    g.name("y", y);
    g.name("h1",
           fg::gru_cell(fg::reshape<batch, inputs>(fg::slice<fg::from<0, 0, 0>, 1, batch, inputs>(x)), h0, weights));
  }
});

template <bool Lstm>
void compare_functional(const std::string& name) {
  constexpr std::size_t rows = (Lstm ? 4 : 3) * units;
  const auto expected = golden(name).out[0];
  fg::session<functional<Lstm>> s({.threads = 1});
  const auto run = [&](const auto&... more) {
    return s.template run<"y", "h1">(
        fg::feed<"x">(numbers(steps * batch * inputs, 0)), fg::feed<"h0">(numbers(batch * units, 1, 0.5f)),
        fg::feed<"w_ih">(numbers(rows * inputs, 10, 0.7f)), fg::feed<"w_hh">(numbers(rows * units, 11, 0.7f)), more...);
  };
  const auto [y, h1] = [&] {
    if constexpr (Lstm)
      return run(fg::feed<"c0">(numbers(batch * units, 2, 0.5f)));
    else
      return run();
  }();
  check(expected, y);
  for (int b = 0; b < batch; ++b)
    for (int u = 0; u < units; ++u) CHECK(h1(b, u) == doctest::Approx(Lstm ? y(b, 0, u) : y(0, b, u)).epsilon(1e-12));
}

}  // namespace

TEST_CASE("lstm as PyTorch's") {
  compare<variant{.lstm = true}>("lstm");
  compare_functional<true>("lstm_no_bias");
}
TEST_CASE("gru as PyTorch's") {
  compare<variant{}>("gru");
  compare_functional<false>("gru_no_bias");
}
TEST_CASE("sequences of several lengths: as PyTorch's packed ones") {
  compare<variant{.lstm = true, .masked = true}>("lstm_masked");
  compare<variant{.batch_first = true, .masked = true}>("gru_masked");
}
TEST_CASE("both directions, each sequence from its own end") {
  compare<variant{.lstm = true, .bidirectional = true, .masked = true}>("lstm_bidirectional");
  compare<variant{.bidirectional = true, .masked = true}>("gru_bidirectional");
}
