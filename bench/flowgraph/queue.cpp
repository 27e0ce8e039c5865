// A bounded queue between 4 producers and 4 consumers: 4,000 elements of 1 KB, a step of a session for each of them on
// either side.
#include <array>
#include <thread>
#include <vector>

#include "prepared.hpp"

namespace fg = flowgraph;

inline constexpr auto exchange = fg::define([](fg::graph& g) {
  auto q = fg::fifo_queue<fg::tensor<float, 256>>(g, "q", 100);
  g.name("put", q.enqueue(g.placeholder<float, 256>("x")));
  g.name("got", q.dequeue());
});

constexpr int sides = 4, each = 1000;

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"queue", [](int threads) -> bench::step {
                                      auto s = bench::prepared<exchange>(threads);
                                      return [s, x = bench::numbers(256, 0, 1)] {
                                        std::array<double, sides> sums{};
                                        std::vector<std::jthread> all;
                                        for (int k = 0; k < sides; ++k) {
                                          all.emplace_back([&] {
                                            for (int i = 0; i < each; ++i) s->run<"put">(fg::feed<"x">(x));
                                          });
                                          all.emplace_back([&s, &sum = sums[static_cast<std::size_t>(k)]] {
                                            fg::ndarray<float, 256> got;
                                            for (int i = 0; i < each; ++i) {
                                              s->run_into<"got">(got);
                                              sum += got(255);
                                            }
                                          });
                                        }
                                        all.clear();
                                        double total = 0;
                                        for (const double sum : sums) total += sum;
                                        return total;
                                      };
                                    }}});
}
