// A convolution of 64 to 64 channels, 3 x 3, on 8 images of 56 x 56; and with it a loss, sum(y^2) / 2, and the
// gradients by images and filters.
#include "prepared.hpp"

namespace fg = flowgraph;

inline constexpr auto layer = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 8, 56, 56, 64>("x");
  auto w = g.variable<float, 3, 3, 64, 64>("w");
  auto y = g.name("y", conv2d<fg::conv{.padding = fg::same}>(x, w));
  auto loss = g.name("loss", l2_loss(y));
  auto [dx, dw] = gradients(loss, x, w);
  g.name("dx", dx);
  g.name("dw", dw);
});

auto prepared(int threads) {
  auto s = bench::prepared<layer>(threads);
  s->set<"w">(bench::numbers(3 * 3 * 64 * 64, 1, 0.05f));
  return s;
}

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"conv_forward",
                        [](int threads) -> bench::step {
                          return [s = prepared(threads), x = bench::numbers(8 * 56 * 56 * 64, 0, 1)] {
                            return s->run<"y">(fg::feed<"x">(x))(7, 55, 55, 63);
                          };
                        }},
                       {"conv_train", [](int threads) -> bench::step {
                          return [s = prepared(threads), x = bench::numbers(8 * 56 * 56 * 64, 0, 1)] {
                            const auto [loss, dx, dw] = s->run<"loss", "dx", "dw">(fg::feed<"x">(x));
                            return loss + dx(7, 55, 55, 63) + dw(2, 2, 63, 63);
                          };
                        }}});
}
