// An epidemic in a boarding school: a simulation inside the graph, whose parameters are learned through its loops.
//
//   contagion, recovery, first ill --+
//   in_bed [days] -------------------+--> scan over days: ill --> repeat 8 times: midpoint step --> ill of the next day
//                                                          +--> simulated [days]
//   simulated, in_bed --> mean of squares = loss --> gradients through 14 * 8 turns --> adam = train
//
//   contagion / recovery = reproduction --> cond above 1?  yes: while_loop, Newton's method --> share that falls ill
//                                                          no:  0
//
// Of 763 boys so many were in bed on 14 days of 1978 (British Medical Journal, 4 March 1978, page 587). Of those who
// are healthy, h, and those who are ill, i:  dh/dt = -contagion h i / 763,  di/dt = contagion h i / 763 - recovery i.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <tuple>
#include <vector>

#include <flowgraph.hpp>
#include <flowgraph/fmt.hpp>

namespace fg = flowgraph;

inline constexpr fg::dim days{"days"};
inline constexpr double boys = 763;

inline constexpr auto epidemic = fg::define([](fg::graph& g) {
  auto in_bed = g.placeholder<double, days>("in_bed");
  // Logarithms, so that no step of training makes a rate negative.
  auto contagion = g.name("contagion", exp(g.variable<double>("log_contagion")));
  auto recovery = g.name("recovery", exp(g.variable<double>("log_recovery", fg::init::constant(-1))));
  auto first = g.name("first", exp(g.variable<double>("log_first")));

  auto change = [&](auto healthy, auto ill) {
    auto infected = contagion * healthy * ill / boys;
    return std::tuple(-infected, infected - recovery * ill);
  };
  auto midpoint = [&](auto healthy, auto ill) {
    constexpr double h = 1.0 / 8;
    auto [healthy_half, ill_half] = change(healthy, ill);
    auto [healthy_full, ill_full] = change(healthy + h / 2 * healthy_half, ill + h / 2 * ill_half);
    return std::tuple(healthy + h * healthy_full, ill + h * ill_full);
  };
  auto [healthy, ill, simulated] = fg::scan(
      [&](auto h, auto i, auto) {
        auto [next_h, next_i] = fg::repeat(8, midpoint, h, i);
        return std::tuple(next_h, next_i, i);  // the next states, and what is collected
      },
      std::tuple(boys - first, first), in_bed);
  static_assert(std::is_same_v<decltype(simulated), fg::tensor<double, days>>);
  g.name("simulated", simulated);
  auto loss = g.name("loss", fg::mse(simulated, in_bed));
  g.name("train", fg::adam(0.05).minimize(loss));

  // Who falls ill in the end, as a share z of all: z = 1 - exp(-reproduction z). Up to a reproduction of 1 that is
  // nobody, and above it Newton's method finds z, in as many turns as it takes.
  auto reproduction = g.name("reproduction", contagion / recovery);
  auto share = fg::cond(
      reproduction > 1.0,
      [&] {
        auto [z, moved] = fg::while_loop(
            fg::loop_options{.maximum_iterations = 50}, [](auto, auto by) { return abs(by) > 1e-12; },
            [&](auto at, auto) {
              auto remaining = exp(-reproduction * at);
              auto by = (1.0 - remaining - at) / (reproduction * remaining - 1.0);
              return std::tuple(at - by, by);
            },
            g.constant<double>(1), g.constant<double>(1));
        return z;
      },
      [&] { return g.constant<double>(0); });
  g.name("share", share);
  g.name("slope", fg::gradients(share, reproduction));  // through the turns that were made
});

int main() try {
  const std::vector<double> in_bed{3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4};
  fg::session<epidemic> s;
  fmt::print("share that falls ill at a reproduction of {:.2f}: {:.4f}\n", s.run<"reproduction">(), s.run<"share">());
  for (int step = 0; step <= 500; ++step) {
    const double loss = s.run<"loss", "train">(fg::feed<"in_bed">(in_bed));
    if (step % 100 == 0) fmt::print("step {:3}: {:.2f} boys off\n", step, std::sqrt(loss));
  }

  const auto [simulated, loss] = s.run<"simulated", "loss">(fg::feed<"in_bed">(in_bed));
  for (int day = 0; day < 14; ++day) {
    const double counted = in_bed[static_cast<std::size_t>(day)], modelled = simulated(day);
    std::string row(static_cast<std::size_t>(std::max(counted, modelled) / 5) + 1, ' ');
    row[static_cast<std::size_t>(modelled / 5)] = '.';
    row[static_cast<std::size_t>(counted / 5)] = 'o';
    fmt::print("day {:2}: {:3} in bed, {:5.1f} simulated  {}\n", day + 1, counted, modelled, row);
  }
  const auto [contagion, recovery, r, share, slope] =
      s.run<"contagion", "recovery", "reproduction", "share", "slope">();
  fmt::print("contagion {:.3f} and recovery {:.3f} a day, {:.2f} boys infected by each; {:.1f}% fall ill\n", contagion,
             recovery, r, 100 * share);

  // What the loops gave, by other means: the equation holds, and its derivative by the implicit function theorem.
  const double equation = std::abs(share - 1 + std::exp(-r * share));
  const double derivative = std::abs(slope - share * (1 - share) / (1 - r * (1 - share)));
  fmt::print("the share solves its equation to {:.0e}, its derivative that of the theorem to {:.0e}\n", equation,
             derivative);
  s.set<"log_contagion">(-2.0);
  fmt::print("were every boy to infect {:.2f}: {:.1f}%\n", s.run<"reproduction">(), 100 * s.run<"share">());
  return std::sqrt(loss) < 17 && equation < 1e-9 && derivative < 1e-9 && s.run<"share">() == 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
