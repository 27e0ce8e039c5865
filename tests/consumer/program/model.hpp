// A model that both files of the program run.
#pragma once
#include <flowgraph.hpp>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

// Is exactly one of two numbers positive? [batch, 2] -> 8 units -> one of two classes.
inline constexpr auto either = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 2, 8>("w1", fg::init::glorot_uniform());
  auto b1 = g.variable<float, 8>("b1");
  auto w2 = g.variable<float, 8, 2>("w2", fg::init::glorot_uniform());
  auto logits = matmul(tanh(matmul(x, w1) + b1), w2);
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("accuracy", reduce_mean(cast<float>(equal(argmax<1>(logits), y))));
  g.name("train", fg::momentum(0.2, 0.9).minimize(loss));
});

// In the other file of the program.
float accuracy(fg::session<either>& s, const std::vector<float>& x, const std::vector<std::int64_t>& y);
