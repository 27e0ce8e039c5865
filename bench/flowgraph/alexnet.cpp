// A training step of AlexNet as convnet-benchmarks has it: one tower, no normalisation, no dropout; 8 images, gradient
// descent.
#include "prepared.hpp"

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};
inline constexpr fg::pool halve{.window = {3, 3}, .stride = {2, 2}};

inline constexpr auto alexnet = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 224, 224, 3>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 11, 11, 3, 64>("w1");
  auto w2 = g.variable<float, 5, 5, 64, 192>("w2");
  auto w3 = g.variable<float, 3, 3, 192, 384>("w3");
  auto w4 = g.variable<float, 3, 3, 384, 256>("w4");
  auto w5 = g.variable<float, 3, 3, 256, 256>("w5");
  auto w6 = g.variable<float, 9216, 4096>("w6");
  auto w7 = g.variable<float, 4096, 4096>("w7");
  auto w8 = g.variable<float, 4096, 1000>("w8");
  auto h1 = relu(conv2d<fg::conv{.stride = {4, 4}, .padding = fg::padded(2, 2, 2, 2)}>(x, w1) +
                 g.variable<float, 64>("b1"));                                     // [batch, 55, 55, 64]
  auto h2 = relu(conv2d<fg::conv{.padding = fg::same}>(max_pool<halve>(h1), w2) +  //
                 g.variable<float, 192>("b2"));                                    // [batch, 27, 27, 192]
  auto h3 = relu(conv2d<fg::conv{.padding = fg::same}>(max_pool<halve>(h2), w3) +  //
                 g.variable<float, 384>("b3"));                                    // [batch, 13, 13, 384]
  auto h4 = relu(conv2d<fg::conv{.padding = fg::same}>(h3, w4) + g.variable<float, 256>("b4"));
  auto h5 = relu(conv2d<fg::conv{.padding = fg::same}>(h4, w5) + g.variable<float, 256>("b5"));
  auto flat = reshape<batch, 9216>(max_pool<halve>(h5));
  auto h6 = relu(matmul(flat, w6) + g.variable<float, 4096>("b6"));
  auto h7 = relu(matmul(h6, w7) + g.variable<float, 4096>("b7"));
  auto logits = matmul(h7, w8) + g.variable<float, 1000>("b8");
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::gradient_descent(0.01).minimize(loss));
});

bench::step training(int threads) {
  auto s = bench::prepared<alexnet>(threads);
  s->set<"w1">(bench::numbers(11 * 11 * 3 * 64, 1, 0.09f));
  s->set<"w2">(bench::numbers(5 * 5 * 64 * 192, 2, 0.06f));
  s->set<"w3">(bench::numbers(3 * 3 * 192 * 384, 3, 0.06f));
  s->set<"w4">(bench::numbers(3 * 3 * 384 * 256, 4, 0.04f));
  s->set<"w5">(bench::numbers(3 * 3 * 256 * 256, 5, 0.05f));
  s->set<"w6">(bench::numbers(9216 * 4096, 6, 0.025f));
  s->set<"w7">(bench::numbers(4096 * 4096, 7, 0.04f));
  s->set<"w8">(bench::numbers(4096 * 1000, 8, 0.04f));
  return [s, x = bench::numbers(8 * 224 * 224 * 3, 0, 1), y = bench::integers(8, 9, 1000)] {
    return s->run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
  };
}

int main(int argc, char** argv) { return bench::serve(argc, argv, {{"alexnet", training}}); }
