// An agent learns to balance a pole on a cart that it pushes left or right (Barto, Sutton and Anderson, 1983). The
// world is a C++ function in the graph. One step plays 32 episodes to their end, in a loop, and learns from them
// (REINFORCE); how the world answers is only known while the loop runs, and nothing leaves the graph in between.
//
//   state [32, 4] --> dense 4-32-2 --> logits --> random_categorical --> push [32] --+
//     ^   |                                                                          |
//     |   +----------------------------> host_call cart_pole <-----------------------+      200 turns
//     +----------------------------------- next state
//
//   all states [200, 32, 4] --> the same dense layers --> logits --+
//   all pushes [200, 32] ------------------------------------------+--> cross entropy --+
//   how long each episode went on afterwards, against the others ------------------------+--> loss --> adam
//
//   example_15_agent [data directory: none is read] [steps]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <tuple>

#include <fmt/format.h>
#include <flowgraph.hpp>

#include "support/arguments.hpp"
#include "support/progress.hpp"

namespace fg = flowgraph;
namespace layers = fg::layers;

inline constexpr fg::dim batch{"batch"};
inline constexpr int episodes = 32, turns = 200;
// A cart that leaves the track, or a pole that falls, ends its episode.
inline constexpr float track = 2.4f, fallen = 0.2095f;

// state: position, speed, angle, angular speed of each episode. A fiftieth of a second; what has ended stays as it is.
void cart_pole(fg::array_ref<const float> state, fg::array_ref<const std::int64_t> push, fg::array_ref<float> next) {
  constexpr float gravity = 9.8f, pole = 0.1f, mass = 1.1f, half_length = 0.5f, force = 10, time = 0.02f;
  for (std::int64_t i = 0; i < push.size(); ++i) {
    const float x = state[4 * i], v = state[4 * i + 1], angle = state[4 * i + 2], turning = state[4 * i + 3];
    float a = 0, spin = 0, passed = 0;
    if (std::abs(x) < track && std::abs(angle) < fallen) {
      const float sine = std::sin(angle), cosine = std::cos(angle);
      const float pull = ((push[i] == 1 ? force : -force) + pole * half_length * turning * turning * sine) / mass;
      spin = (gravity * sine - cosine * pull) / (half_length * (4.0f / 3 - pole * cosine * cosine / mass));
      a = pull - pole * half_length * spin * cosine / mass;
      passed = time;
    }
    next[4 * i] = x + passed * v;
    next[4 * i + 1] = v + passed * a;
    next[4 * i + 2] = angle + passed * turning;
    next[4 * i + 3] = turning + passed * spin;
  }
}

// Which push is how likely.
inline constexpr auto policy = [](auto state) {
  return layers::dense<2>(tanh(layers::dense<32>(state, "seen")), "push");
};

// 1 where an episode goes on, else 0.
inline constexpr auto going_on = [](auto state) {
  auto within = [&](auto begin, float limit) {
    return fg::abs(squeeze<-1>(slice<decltype(begin), turns, episodes, 1>(state))) < limit;
  };
  return fg::cast<float>(within(fg::from<0, 0, 0>{}, track) && within(fg::from<0, 0, 2>{}, fallen));
};

inline constexpr auto agent = fg::define([](fg::graph& g) {
  auto first = fg::random_uniform<float, episodes, 4>(g, -0.05, 0.05);
  auto [last, states, pushes] = fg::scan(
      [](auto state, auto) {
        auto push = fg::random_categorical(policy(state));  // [episodes]
        auto next = fg::host_call<"cart_pole", cart_pole, fg::tensor<float, episodes, 4>>(state, push);
        return std::tuple(next, state, push);
      },
      first, fg::range<std::int64_t, turns>(g));

  auto seen = fg::stop_gradient(states);  // [turns, episodes, 4]
  auto alive = going_on(seen);            // [turns, episodes]
  auto lasted = reduce_sum<0>(alive);     // [episodes]
  g.name("lasted", reduce_mean(lasted));
  auto to_come = (lasted - fg::reshape<turns, 1>(fg::range<float, turns>(g))) * alive;
  auto others = reduce_sum<1>(to_come, fg::keepdims) / (reduce_sum<1>(alive, fg::keepdims) + 1e-6f);
  auto better = (to_come - others) * alive;  // than the episodes that came as far
  auto scaled = better / (sqrt(reduce_mean(square(better))) + 1e-6f);
  auto same = g.share_variables();  // the policy that was played
  auto unlikely = softmax_cross_entropy_with_logits(policy(seen), fg::stop_gradient(pushes));
  auto loss = g.name("loss", reduce_mean(unlikely * fg::stop_gradient(scaled)));
  g.name("learn", fg::adam(0.01).minimize(loss));
  // What is deployed: how likely the pushes are in states from elsewhere.
  g.name("logits", policy(g.placeholder<float, batch, 4>("state")));
});

inline constexpr int enough = 80;  // steps until it must balance well

int main(int argc, char** argv) try {
  const int steps = example::number(argc, argv, 2, "steps", enough);
  fg::session<agent> s({.threads = 1, .seed = 3});
  const example::progress bar(steps);
  float first = 0, lasted = 0;
  for (int step = 1; step <= steps; ++step) {
    lasted = std::get<0>(s.run<"lasted", "loss", "learn">());
    if (step == 1) first = lasted;
    bar.show(step, fmt::format("{:.0f} of {} turns", lasted, turns));
  }
  fmt::print("the pole stands for {:.0f} of {} turns; for {:.0f} before anything was learned\n", lasted, turns, first);
  return steps < enough || lasted > 150 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
