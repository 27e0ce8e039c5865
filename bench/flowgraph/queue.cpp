// A bounded queue between 4 producers and 4 consumers: 4,000 elements of 1 KB. All of them are loops in the graph, each
// an asynchronous step on the session's threads.
#include <tuple>
#include <vector>

#include "prepared.hpp"

namespace fg = flowgraph;

constexpr int sides = 4, each = 1000;

inline constexpr auto exchange = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 256>("x");
  auto q = fg::fifo_queue<fg::tensor<float, 256>>(g, "q", 100);
  const auto more = [](auto i, auto...) { return i < each; };
  g.name("produce", fg::while_loop(
                        more,
                        [&](auto i) {
                          auto after = g.control_dependencies(q.enqueue(x));
                          return i + 1;
                        },
                        g.constant(0)));
  auto [turns, sum] = fg::while_loop(
      more,
      [&](auto i, auto total) { return std::tuple(i + 1, total + reshape<>(slice<fg::from<255>, 1>(q.dequeue()))); },
      g.constant(0), g.constant(0.0f));
  g.name("consume", sum);
});

using session = std::shared_ptr<fg::session<exchange>>;

double pass_on(const session& s, const std::vector<float>& x) {
  std::vector<fg::future<int>> producers;
  std::vector<fg::future<float>> consumers;
  for (int k = 0; k < sides; ++k) {
    producers.push_back(s->run_async<"produce">(fg::feed<"x">(x)));
    consumers.push_back(s->run_async<"consume">());
  }
  double sum = 0;
  for (auto& f : consumers) sum += f.get();
  for (auto& f : producers) f.get();
  return sum;
}

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"queue", [](int threads) -> bench::step {
                                      return [s = bench::prepared<exchange>(threads), x = bench::numbers(256, 0, 1)] {
                                        return pass_on(s, x);
                                      };
                                    }}});
}
