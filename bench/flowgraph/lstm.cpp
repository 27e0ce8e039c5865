// Recurrent rows: a training step of an LSTM, and a loop that only counts.
#include <cstddef>
#include <cstdint>
#include <memory>
#include "prepared.hpp"

namespace fg = flowgraph;

inline constexpr fg::dim duration{"duration"};
inline constexpr fg::dim batch{"batch"};
inline constexpr int units = 256;

// The loss is the mean square of the outputs.
inline constexpr auto lstm = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, duration, batch, units>("x");
  auto [y, h, c] = fg::layers::lstm<units>(x, "lstm");
  auto loss = g.name("loss", reduce_mean(y * y));
  g.name("train", fg::gradient_descent(0.01).minimize(loss));
});

inline constexpr auto counting = fg::define([](fg::graph& g) {
  auto n = g.placeholder<std::int64_t>("n");
  auto zero = g.constant<std::int64_t>(0);
  g.name("count", fg::while_loop([&](auto i) { return i < n; }, [&](auto i) { return i + 1; }, zero));
});

int main(int argc, char** argv) {
  return bench::serve(
      argc, argv,
      {{"lstm",
        [](int threads) {
          auto s = bench::prepared<lstm>(threads);
          s->set<"lstm/weight_ih_l0">(bench::numbers(4 * units * units, 1, 0.06f));
          s->set<"lstm/weight_hh_l0">(bench::numbers(4 * units * units, 2, 0.06f));
          s->set<"lstm/bias_ih_l0">(bench::numbers(4 * units, 3, 0.06f));
          s->set<"lstm/bias_hh_l0">(bench::numbers(4 * units, 4, 0.06f));
          const fg::ndarray<float, duration, batch, units> x({32, 16, units}, bench::numbers(32 * 16 * units, 0, 1));
          return [s, x] { return static_cast<double>(s->run<"loss", "train">(fg::feed<"x">(x))); };
        }},
       {"while_loop", [](int threads) {
          auto s = bench::prepared<counting>(threads);
          return [s] { return static_cast<double>(s->run<"count">(fg::feed<"n">(std::int64_t{1'000'000}))); };
        }}});
}
