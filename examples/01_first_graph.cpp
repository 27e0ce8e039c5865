// A first graph: degrees Fahrenheit from degrees Celsius, by a line whose slope and intercept are learned from eight
// readings of two thermometers.
//
//   celsius [readings] --> * slope --> + intercept --> guess [readings]
//
//   guess, fahrenheit [readings] --> mean of (guess - fahrenheit)^2 = loss --+--> d slope -------+
//                                                                            +--> d intercept ---+--> learn
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include <flowgraph.hpp>
#include <flowgraph/fmt.hpp>

namespace fg = flowgraph;

inline constexpr fg::dim readings{"readings"};  // how many there are is known when they are fed

// The function runs in the compiler, and writes the graph down. Nothing is computed.
inline constexpr auto thermometer = fg::define([](fg::graph& g) {
  auto celsius = g.placeholder<float, readings>("celsius");  // fed with every step
  auto fahrenheit = g.placeholder<float, readings>("fahrenheit");
  auto slope = g.variable<float>("slope");  // kept from step to step; begins as 0
  auto intercept = g.variable<float>("intercept");

  auto guess = g.name("guess", celsius * slope + intercept);
  static_assert(std::is_same_v<decltype(guess), fg::tensor<float, readings>>);  // follows from the operands

  // Shapes are checked here, at your line. This would not compile, and the error's first line would say why:
  //   auto rates = g.variable<float, 3>("rates");
  //   g.name("oops", celsius * rates);
  // error: the shapes do not broadcast: from the back, two extents must be equal or one of them must be 1

  auto loss = g.name("loss", reduce_mean(square(guess - fahrenheit)));
  auto [by_slope, by_intercept] = fg::gradients(loss, slope, intercept);  // tensors like any others
  g.name("learn", group(assign_sub(slope, 0.0015f * by_slope), assign_sub(intercept, 0.0015f * by_intercept)));
});

static_assert(thermometer.parameters() == 2);

int main() try {
  const std::vector<float> celsius{-40, -20, -10, 0, 10, 20, 30, 37};
  const std::vector<float> fahrenheit{-40, -4, 14, 32, 50, 68, 86, 98.6f};

  // For each question the compiler has made a plan. One that forgets to feed "celsius" does not compile.
  fg::session<thermometer> s;
  for (int step = 0; step <= 4000; ++step) {
    const float loss = s.run<"loss", "learn">(fg::feed<"celsius">(celsius), fg::feed<"fahrenheit">(fahrenheit));
    if (step % 1000 == 0) fmt::print("step {:4}: loss {:.6f}\n", step, loss);
  }
  const float slope = s.get<"slope">(), intercept = s.get<"intercept">();
  fmt::print("fahrenheit = {:.3f} celsius + {:.3f}\n", slope, intercept);

  const std::vector<float> boiling_and_warm{100, 25};  // another number of readings: "guess" needs no "fahrenheit"
  fmt::print("100 and 25 degrees Celsius are {:.1f} Fahrenheit\n",
             s.run<"guess">(fg::feed<"celsius">(boiling_and_warm)));
  fmt::print("\nthe graph, a node a line:\n{}", fg::to_text(thermometer));
  return std::abs(slope - 1.8f) < 0.001f && std::abs(intercept - 32.0f) < 0.01f ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
