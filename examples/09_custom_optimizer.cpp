// An optimizer of your own: Rprop (Riedmiller, Braun 1993), which looks at the signs of derivatives only, beside the
// library's adam: the network of 03_digits_mlp, all images in every step.
//
//   x [batch, 64] --> dense 32 --> relu --> dense 10 --> logits [batch, 10]
//   logits, y [batch] --+--> softmax cross-entropy --> mean = loss --+--> rprop by all parameters
//                       |                                            +--> adam by all parameters
//                       +--> argmax = y --> mean = accuracy
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>

#include <fmt/format.h>
#include <flowgraph.hpp>

#include "support/digits.hpp"

namespace fg = flowgraph;

// Each weight moves by a width of its own, against the sign of its derivative. While the sign stays, the width grows by
// a fifth; where it has changed, the width is halved and the weight rests for a step.
struct rprop : fg::optimizer<rprop> {
  static constexpr std::string_view name = "rprop";
  double rate;  // the first width of all weights
  constexpr explicit rprop(double first_width) : rate(first_width) {}

  constexpr void update(fg::update_step& s) const {
    using namespace fg::ops;
    const fg::ref width = s.slot("width", rate), before = s.slot("sign", 0);  // variables: "hidden/w/width" and so on
    const fg::ref now = fg::emit<sign>(s.gradient()), agree = now * s.value(before), zero = scalar_like(now, 0);
    const fg::ref same = fg::emit<maximum>(agree, zero), changed = fg::emit<minimum>(agree, zero);  // 1, -1, else 0
    const fg::ref next = s.value(width) * (same * 0.2 + changed * 0.5 + 1.0), moved = now * (changed + 1.0);
    s.set(width, next);
    s.set(before, moved);
    s.subtract(moved * next);
  }
};

inline constexpr fg::dim batch{"batch"};

inline constexpr auto digits = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto logits = g.name("logits", fg::layers::dense<10>(relu(fg::layers::dense<32>(x, "hidden")), "out"));
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("accuracy", reduce_mean(cast<float>(equal(argmax<1>(logits), y))));
  g.name("rprop", rprop(0.01).minimize(loss));
  g.name("adam", fg::adam(0.02).minimize(loss));
});

struct result {
  float loss = 0, accuracy = 0;
};

template <fg::fixed_string Optimizer>
result train(fg::session<digits>& s, const example::digits_data& data) {
  s.initialize(42);  // both begin with the same weights
  fmt::print("{:>6}: loss", Optimizer.view());
  result r;
  for (int step = 0; step <= 60; ++step) {
    r.loss = s.run<"loss", Optimizer>(fg::feed<"x">(data.train.pixels), fg::feed<"y">(data.train.labels));
    if (step % 10 == 0) fmt::print(" {:.4f}", r.loss);
  }
  r.accuracy = s.run<"accuracy">(fg::feed<"x">(data.test.pixels), fg::feed<"y">(data.test.labels));
  fmt::print(" after 0, 10, ... 60 steps; {:.2f}% of unseen images\n", 100 * r.accuracy);
  return r;
}

int main(int argc, char** argv) try {
  const example::digits_data data(example::data_directory(argc, argv));
  fg::session<digits> s({.threads = 1});
  const result own = train<"rprop">(s, data), built_in = train<"adam">(s, data);
  return own.accuracy >= 0.95f && own.loss < built_in.loss ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
