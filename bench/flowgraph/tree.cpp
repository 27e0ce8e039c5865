// A graph for each input: a recursive network on binary trees of 16 leaves, whose graph with its gradients is built
// anew in each step. tree_new: no two trees have one shape; tree_met: of eight shapes, with other words each time.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <flowgraph.hpp>

#include "../support/contest.hpp"

namespace fg = flowgraph;

namespace {

constexpr int leaves = 16, width = 32, words = 100, classes = 5;

struct network {
  fg::graph g;
  fg::variable<float, words, width> table = g.variable<float, words, width>("table");
  fg::variable<float, 2 * width, width> w = g.variable<float, 2 * width, width>("w");
  fg::variable<float, 1, width> b = g.variable<float, 1, width>("b");
  fg::variable<float, width, classes> out = g.variable<float, width, classes>("out");

  // In each turn two neighbours become one.
  auto loss(std::uint32_t shape) {
    std::vector<fg::tensor<float, 1, width>> nodes;
    for (auto id : fg::split<0, leaves>(g.placeholder<std::int64_t, leaves>("words")))
      nodes.push_back(embedding_lookup(table, id));
    for (std::size_t turn = 0; nodes.size() > 1; ++turn) {
      const std::size_t at = bench::hash_of(turn, shape) % (nodes.size() - 1);
      nodes[at] = tanh(matmul(concat<1>(nodes[at], nodes[at + 1]), w) + b);  // [1, 32]
      nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    return reduce_mean(
        softmax_cross_entropy_with_logits(matmul(nodes[0], out), g.placeholder<std::int64_t, 1>("label")));
  }
};

bench::step trees(int threads, std::uint32_t shapes) {
  const auto s = std::make_shared<fg::dynamic_session>(fg::session_options{.threads = threads});
  const network n;
  s->set(n.table, bench::numbers(words * width, 1, 0.5f));
  s->set(n.w, bench::numbers(2 * width * width, 2, 0.2f));
  s->set(n.out, bench::numbers(width * classes, 3, 0.2f));
  return [s, shapes, turn = std::uint32_t{0}]() mutable {
    network tree;
    const auto loss = tree.loss(100 + turn % shapes);
    const auto train = fg::gradient_descent(0.01).minimize(loss);
    const std::vector<std::int64_t> ids = bench::integers(leaves, 10 + turn, words);
    const std::int64_t label = turn++ % classes;
    return s->run(loss, train, fg::feed("words", ids), fg::feed("label", std::array{label}));
  };
}

}  // namespace

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"tree_new", [](int threads) { return trees(threads, 0xffffffffu); }},
                       {"tree_met", [](int threads) { return trees(threads, 8); }}});
}
