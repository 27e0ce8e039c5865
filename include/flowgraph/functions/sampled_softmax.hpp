// The softmax loss over so many classes that a step looks at a sample of them: of the table of weights it reads, and
// its gradient touches, a few rows only.
#pragma once
#include <cstdint>
#include <type_traits>

#include <flowgraph/ops/random.hpp>
#include "concat.hpp"
#include "embedding.hpp"
#include "matrix.hpp"
#include "reduction.hpp"
#include "reshape.hpp"

namespace flowgraph {

// Classes that stand in for all of them in one step, drawn with replacement. log_expected is the logarithm of how often
// each of some classes is expected among them. Any struct with these two serves as candidates.
template <std::int64_t Classes, std::int64_t Count>
struct log_uniform_classes {
  tensor<std::int64_t, detail::canonical<Count>()> classes;
  tensor<double> log_range;  // log(Classes + 1)

  // Of Count draws, each of class k with probability log((k + 2) / (k + 1)) / log(Classes + 1).
  template <class T, any_tensor I>
  constexpr auto log_expected(const I& of, caller where = {}) const {
    const auto weight = log1p(reciprocal(add(cast<T>(of, where), 1.0, where), where), where);
    return log(mul(weight, div(static_cast<double>(Count), cast<T>(log_range, where), where), where), where);
  }
};

template <std::int64_t Classes, std::int64_t Count>
struct uniform_classes {
  tensor<std::int64_t, detail::canonical<Count>()> classes;

  template <class T, any_tensor I>
  constexpr auto log_expected(const I& of, caller where = {}) const {
    const auto expected = detail::source_node<ops::constant, tensor<T>>(
        where, *of.graph,
        ops::constant::attrs{ops::number_word<T>(static_cast<double>(Count) / static_cast<double>(Classes))});
    return log(expected, where);
  }
};

namespace detail {

// How many rows the weights have; 1 after a mistake.
template <std::int64_t Count, class W>
constexpr std::int64_t classes_of() {
  static_assert(Count >= 1, "candidates: there must be at least one");
  constexpr std::int64_t n = W::rank == 0 ? -1 : W::shape.number[0];
  if constexpr (n < 1) mistake<problem::needs_number, W>();
  return n < 1 ? 1 : n;
}

template <std::int64_t Count>
constexpr auto uniform_numbers(graph_data& g, double below, caller where) {
  return source_node<ops::random_uniform, tensor<double, canonical<Count>()>>(where, g,
                                                                              ops::random_uniform::attrs{0, below});
}

// Rounded down; the greatest is a class even where rounding has reached the end of the range.
template <std::int64_t Classes, class X>
constexpr auto as_classes(const X& x, caller where) {
  return minimum(cast<std::int64_t>(x, where), Classes - 1, where);
}

constexpr bool sampled_shapes_fit(const shape_text& w, const shape_text& b, const shape_text& x, const shape_text& y) {
  const auto equal = [](const shape_text& a, int i, const shape_text& c, int k) {
    return a.number[i] == c.number[k] && (a.number[i] >= 0 || a.name(i) == c.name(k));
  };
  return w.rank == 2 && b.rank == 1 && x.rank == 2 && y.rank == 1 && equal(w, 0, b, 0) && equal(w, 1, x, 1) &&
         equal(x, 0, y, 0);
}

}  // namespace detail

// So many classes of the rows of a table of weights, small numbers more often: where classes are numbered from the most
// frequent to the rarest, about as often as they occur.
template <std::int64_t Count, any_tensor W>
constexpr auto log_uniform_candidates(const W& weights, caller where = {}) {
  constexpr std::int64_t n = detail::classes_of<Count, tensor_t<W>>();
  graph_data& g = *weights.graph;
  const auto log_range = log(detail::source_node<ops::constant, tensor<double>>(
                                 where, g, ops::constant::attrs{ops::number_word<double>(static_cast<double>(n) + 1)}),
                             where);
  const auto u = detail::uniform_numbers<Count>(g, 1, where);
  const auto from_zero = sub(exp(mul(u, log_range, where), where), 1.0, where);  // from 0 to n
  return log_uniform_classes<n, Count>{detail::as_classes<n>(from_zero, where), log_range};
}

// So many classes of the rows of a table of weights, all equally often.
template <std::int64_t Count, any_tensor W>
constexpr auto uniform_candidates(const W& weights, caller where = {}) {
  constexpr std::int64_t n = detail::classes_of<Count, tensor_t<W>>();
  const auto u = detail::uniform_numbers<Count>(*weights.graph, static_cast<double>(n), where);
  return uniform_classes<n, Count>{detail::as_classes<n>(u, where)};
}

// The loss of each row, estimated: softmax cross-entropy of inputs wT + biases among the label and the candidates, each
// logit less the logarithm of how often its class is expected. A candidate that is the label is left out, however
// often it was drawn.
template <any_tensor W, any_tensor B, any_tensor X, any_tensor L, class Candidates>
constexpr auto sampled_softmax_loss(const W& weights, const B& biases, const X& inputs, const L& labels,
                                    const Candidates& candidates, caller where = {}) {
  using T = element_t<X>;
  if constexpr (!floating_tensor<X>) {
    detail::mistake<problem::needs_floating, tensor_t<X>>();
    return detail::as_tensor(labels);
  } else if constexpr (!std::is_same_v<element_t<W>, T> || !std::is_same_v<element_t<B>, T>) {
    detail::mistake<problem::dtypes_differ, tensor_t<W>, tensor_t<B>, tensor_t<X>>();
    return tensor<T, 1>{inputs.graph, inputs.id};
  } else if constexpr (!detail::sampled_shapes_fit(tensor_t<W>::shape, tensor_t<B>::shape, tensor_t<X>::shape,
                                                   tensor_t<L>::shape)) {
    detail::mistake<problem::sampled_shapes, tensor_t<W>, tensor_t<B>, tensor_t<X>, tensor_t<L>>();
    return tensor<T, 1>{inputs.graph, inputs.id};
  } else {
    const auto& sampled = candidates.classes;
    const auto own_rows = embedding_lookup(weights, labels, where);  // [batch, units]
    const auto own =
        sub(add(reduce_sum<1>(mul(inputs, own_rows, where), where), embedding_lookup(biases, labels, where), where),
            candidates.template log_expected<T>(labels, where), where);  // [batch]
    const auto others = sub(add(matmul<transpose_b>(inputs, embedding_lookup(weights, sampled, where), where),
                                embedding_lookup(biases, sampled, where), where),
                            candidates.template log_expected<T>(sampled, where), where);  // [batch, candidates]
    const auto hit =
        equal(cast<std::int64_t>(expand_dims<1>(labels, where), where), cast<std::int64_t>(sampled, where), where);
    // Finite, because a session that checks numerics would stop at an infinity.
    const auto rest = select(hit, sizeof(T) == 2 ? -6e4 : -1e30, others, where);
    return sub(logsumexp<1>(concat<1>(expand_dims<1>(own, where), rest), where), own, where);
  }
}

}  // namespace flowgraph
