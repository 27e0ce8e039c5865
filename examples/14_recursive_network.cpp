// A recursive network reads logical expressions: of every tree, and every tree in it, it says whether it is true. The
// expression decides what is computed, so each has a graph of its own; variables stay, and so do plans of equal trees.
//
//   ((t&f)|!t)      t --+                              constants [2, 16], and w, b of each operator
//                       +-- and --+
//                   f --+         +-- or --> h [1, 16] --> matmul out [16, 1] --> logit --+
//                   t ---- not ---+                                                       +--> mean --> loss -->
//                   adagrad
//                            (a logit of each vector on the way) -------------------------+
//
// The first pass is held to PyTorch's losses for the same weights (tests/referee/make_expressions.py).
//
//   example_14_recursive_network [data directory] [passes] [expressions of the first pass]
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <flowgraph.hpp>
#include <flowgraph/checkpoint.hpp>

#include "support/arguments.hpp"
#include "support/digits.hpp"

namespace fg = flowgraph;

// What an operator knows.
template <int Operands>
struct cell {
  fg::variable<float, 16 * Operands, 16> w;
  fg::variable<float, 1, 16> b;
};

// The variables, declared in the graph of one expression; and that graph while it grows.
struct network {
  using vector = fg::tensor<float, 1, 16>;
  static constexpr fg::dim leaves{"leaves"};
  static constexpr fg::dim trees{"trees"};

  fg::graph g;
  fg::variable<float, 2, 16> constants = g.variable<float, 2, 16>("constants");
  cell<1> no = declare<1>("not");
  cell<2> both = declare<2>("and"), either = declare<2>("or"), one = declare<2>("xor");
  fg::variable<float, 16, 1> out = g.variable<float, 16, 1>("out");

  // Fed, not written into the graph, so that trees of one shape have one plan.
  fg::tensor<std::int64_t, leaves> leaf_values = g.placeholder<std::int64_t, leaves>("leaf_values");
  fg::tensor<float, trees, 1> truth = g.placeholder<float, trees, 1>("truth");
  std::vector<std::int64_t> leaf_data;
  std::vector<float> truth_data;

  fg::tensor<float> sum = g.constant(0.0f);
  fg::tensor<float, 1, 1> logit;  // of the tree that was read last

  // Reads from the front of the text.
  vector read(std::string_view& text) {
    const char first = text.front();
    text.remove_prefix(1);
    if (first == '!') {
      const vector x = read(text);
      const bool value = truth_data.back() == 0;
      return say(tanh(matmul(x, no.w) + no.b), value);
    }
    if (first != '(') {
      leaf_data.push_back(first == 't' ? 1 : 0);
      const auto which = g.constant<std::int64_t, 1>(static_cast<std::int64_t>(leaf_data.size()) - 1);
      return say(embedding_lookup(constants, gather(leaf_values, which)), first == 't');
    }
    const vector x = read(text);
    const bool left = truth_data.back() != 0;
    const char op = text.front();
    text.remove_prefix(1);
    const vector y = read(text);
    const bool right = truth_data.back() != 0;
    text.remove_prefix(1);  // the closing parenthesis
    const cell<2>& c = op == '&' ? both : op == '|' ? either : one;
    const bool value = op == '&' ? left && right : op == '|' ? left || right : left != right;
    return say(tanh(matmul(concat<1>(x, y), c.w) + c.b), value);
  }
  fg::tensor<float> loss() const { return sum * (1.0f / static_cast<float>(truth_data.size())); }

 private:
  template <int Operands>
  cell<Operands> declare(std::string_view name) {
    auto scope = g.scope(name);
    return {g.variable<float, 16 * Operands, 16>("w"), g.variable<float, 1, 16>("b")};
  }
  vector say(const vector& h, bool value) {
    truth_data.push_back(value ? 1.0f : 0.0f);
    logit = matmul(h, out);
    const auto which = g.constant<std::int64_t, 1>(static_cast<std::int64_t>(truth_data.size()) - 1);
    sum = sum + reduce_sum(sigmoid_cross_entropy_with_logits(logit, gather(truth, which)));
    return h;
  }
};

float learn(fg::dynamic_session& s, std::string_view expression) {
  network n;
  n.read(expression);
  const auto loss = n.loss();
  const auto train = fg::adagrad(0.05).minimize(loss);
  return s.run(loss, train, fg::feed(n.leaf_values, n.leaf_data), fg::feed(n.truth, n.truth_data));
}

bool is_right(fg::dynamic_session& s, std::string_view expression) {
  network n;
  n.read(expression);
  const fg::ndarray<float, 1, 1> logit = s.run(n.logit, fg::feed(n.leaf_values, n.leaf_data));
  return (logit(0, 0) > 0) == (n.truth_data.back() != 0);
}

struct expressions {
  std::vector<std::string> learned, held_out;
  std::vector<float> losses;  // PyTorch's, of each one learned
};

expressions read_expressions(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": can't be read");
  expressions all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string text;
    float loss = 0;
    words >> text;
    if (words >> loss) {
      all.learned.push_back(text);
      all.losses.push_back(loss);
    } else {
      all.held_out.push_back(text);
    }
  }
  return all;
}

int main(int argc, char** argv) try {
  const std::string directory = example::data_directory(argc, argv);
  const int passes = example::number(argc, argv, 2, "passes", 5);
  const expressions all = read_expressions(directory + "/expressions.txt");
  const auto first_pass = std::min(
      all.learned.size(),
      static_cast<std::size_t>(example::number(argc, argv, 3, "expressions", static_cast<int>(all.learned.size()))));

  fg::dynamic_session s({.threads = 1});
  fg::restore(s, directory + "/expressions.safetensors");  // before any graph declares them

  float worst = 0;
  for (std::size_t i = 0; i < first_pass; ++i)
    worst = std::max(worst, std::abs(learn(s, all.learned[i]) - all.losses[i]));
  fmt::print("losses of {} expressions differ from PyTorch's by at most {:.0e}\n", first_pass, worst);

  std::vector<std::size_t> order(first_pass);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (int pass = 1; pass < passes; ++pass) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) learn(s, all.learned[i]);
  }
  const auto right =
      std::count_if(all.held_out.begin(), all.held_out.end(), [&](const std::string& e) { return is_right(s, e); });
  fmt::print("{} of {} expressions that it has not seen, of up to 12 leaves, are read correctly\n", right,
             all.held_out.size());
  // Who stops early has learned less.
  const bool whole = passes >= 5 && first_pass == all.learned.size();
  return worst < 1e-4f && (!whole || right >= 180) ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
