// Metrics over many batches, as state in the graph: run `update` for each batch, fetch `value` when it is wanted, run
// `reset` to begin anew. Fetched together with `update`, a value includes the batch.
//   auto accuracy = fg::metrics::accuracy(logits, labels, "accuracy");
//   g.name("evaluate", accuracy.update);
//   g.name("accuracy_so_far", accuracy.value);
#pragma once
#include <flowgraph/functions/fill.hpp>
#include <flowgraph/functions/sort.hpp>
#include "layers.hpp"

namespace flowgraph {

template <any_tensor Value>
struct metric {
  operation update;
  Value value;  // of nothing: not a number, or zeros of a matrix of counts
  operation reset;
};
template <class Value>
metric(operation, Value, operation) -> metric<Value>;

namespace metrics {

namespace detail {

using layers::detail::layer_scope;

// What a metric adds up: doubles, which count exactly to 2^53.
template <auto... E>
constexpr auto counter(layer_scope& s, const char* name) {
  return s.parameter<double, E...>(name, init::zeros(), training::frozen);
}
template <any_tensor B>
constexpr auto count_true(const B& truth, caller where) {
  return reduce_sum(cast<double>(truth, where), where);
}

// part / whole, both counted by name: the share of `of` in `among`, where both are truths.
template <any_tensor Of, any_tensor Among>
constexpr auto share(const Of& of, const Among& among, std::string_view name, caller where) {
  layer_scope s(*of.graph, name, where);
  const auto part = counter(s, "part"), whole = counter(s, "whole");
  const operation update =
      group(assign_add(part, count_true(of, s.where), s.where), assign_add(whole, count_true(among, s.where), s.where));
  const auto value = cast<float>(div(part, whole, s.where), s.where);
  return metric{update, value, group(assign(part, 0, s.where), assign(whole, 0, s.where))};
}

}  // namespace detail

// The mean of all elements of all batches.
template <any_tensor X>
constexpr auto mean(const X& values, std::string_view name, caller where = {}) {
  detail::layer_scope s(*values.graph, name, where);
  const auto total = detail::counter(s, "total"), count = detail::counter(s, "count");
  const operation update = group(assign_add(total, reduce_sum(cast<double>(values, s.where), s.where), s.where),
                                 assign_add(count, cast<double>(size(values, s.where), s.where), s.where));
  const auto value = cast<float>(div(total, count, s.where), s.where);
  return metric{update, value, group(assign(total, 0, s.where), assign(count, 0, s.where))};
}

// How often the greatest logit is the label's: logits [..., classes], labels [...].
template <any_tensor X, any_tensor L>
constexpr auto accuracy(const X& logits, const L& labels, std::string_view name, caller where = {}) {
  const auto right = equal(argmax<-1>(logits, where), cast<std::int64_t>(labels, where), where);
  return mean(cast<float>(right, where), name, where);
}

// How often the label is among the K greatest.
template <int K, any_tensor X, any_tensor L>
constexpr auto top_k_accuracy(const X& logits, const L& labels, std::string_view name, caller where = {}) {
  const auto [values, positions] = top_k<K>(logits, where);
  const auto right =
      reduce_any<-1>(equal(positions, expand_dims<-1>(cast<std::int64_t>(labels, where), where), where), where);
  return mean(cast<float>(right, where), name, where);
}

// Of what was predicted to be true, how much is; of what is true, how much was predicted. Both are bool.
template <any_tensor P, any_tensor L>
constexpr auto precision(const P& predicted, const L& labels, std::string_view name, caller where = {}) {
  return detail::share(logical_and(predicted, labels, where), flowgraph::detail::as_tensor(predicted), name, where);
}
template <any_tensor P, any_tensor L>
constexpr auto recall(const P& predicted, const L& labels, std::string_view name, caller where = {}) {
  return detail::share(logical_and(predicted, labels, where), flowgraph::detail::as_tensor(labels), name, where);
}

// [label, prediction]: how often a class was taken for another.
template <int Classes, any_tensor P, any_tensor L>
constexpr auto confusion_matrix(const P& predicted, const L& labels, std::string_view name, caller where = {}) {
  detail::layer_scope s(*predicted.graph, name, where);
  const auto counts = detail::counter<Classes, Classes>(s, "counts");
  const auto of_labels = one_hot<Classes, double>(flatten<0>(labels, s.where), 1, 0, s.where);
  const auto of_predictions = one_hot<Classes, double>(flatten<0>(predicted, s.where), 1, 0, s.where);
  const operation update = assign_add(counts, matmul<transpose_a>(of_labels, of_predictions, s.where), s.where);
  return metric{update, cast<std::int64_t>(counts, s.where), group(assign(counts, 0, s.where))};
}

// The area under the receiver operating characteristic: how probably a positive has a higher score than a negative.
// scores [n] lie between 0 and 1 and are counted in so many buckets; two scores in one bucket count as equal, which is
// half a success. labels [n] are bool.
template <int Buckets = 200, any_tensor P, any_tensor L>
constexpr auto auc(const P& scores, const L& labels, std::string_view name, caller where = {}) {
  static_assert(rank_v<P> == 1 && rank_v<L> == 1, "auc: scores and labels must be vectors");
  detail::layer_scope s(*scores.graph, name, where);
  const auto positives = detail::counter<Buckets>(s, "positives"), negatives = detail::counter<Buckets>(s, "negatives");
  const auto bucket = minimum(floor(mul(scores, Buckets, s.where), s.where), Buckets - 1, s.where);
  const auto rows = one_hot<Buckets, double>(cast<std::int64_t>(bucket, s.where), 1, 0, s.where);
  const auto count = [&](const auto& truth) {
    const auto weights = expand_dims<0>(cast<double>(truth, s.where), s.where);
    return reshape<Buckets>(matmul(weights, rows, s.where), s.where);
  };
  const operation update = group(assign_add(positives, count(labels), s.where),
                                 assign_add(negatives, count(logical_not(labels, s.where)), s.where));
  const auto higher = cumsum<0>(positives, {.exclusive = true, .reverse = true}, s.where);
  const auto successes = mul(negatives, add(higher, mul(positives, 0.5, s.where), s.where), s.where);
  const auto pairs = mul(reduce_sum(positives, s.where), reduce_sum(negatives, s.where), s.where);
  const auto value = cast<float>(div(reduce_sum(successes, s.where), pairs, s.where), s.where);
  return metric{update, value, group(assign(positives, 0, s.where), assign(negatives, 0, s.where))};
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_BEYOND(mean, 3, flowgraph::detail::no_tensor_and_name<X...>,
                        "metrics::mean takes a tensor and a name, as in mean(losses, \"mean_loss\")")
FLOWGRAPH_MISUSE_BEYOND(
    accuracy, 4, flowgraph::detail::no_attention_arguments<X...>,
    "metrics::accuracy takes what was predicted, labels and a name, as in accuracy(logits, labels, \"accuracy\")")
FLOWGRAPH_MISUSE_BEYOND(
    precision, 4, flowgraph::detail::no_attention_arguments<X...>,
    "metrics::precision takes what was predicted, labels and a name, as in precision(logits, labels, \"precision\")")
FLOWGRAPH_MISUSE_BEYOND(
    recall, 4, flowgraph::detail::no_attention_arguments<X...>,
    "metrics::recall takes what was predicted, labels and a name, as in recall(logits, labels, \"recall\")")
FLOWGRAPH_MISUSE_BEYOND(auc, 4, flowgraph::detail::no_attention_arguments<X...>,
                        "metrics::auc takes what was predicted, labels and a name, as in auc(logits, labels, \"auc\")")
FLOWGRAPH_MISUSE_BEYOND(
    top_k_accuracy, 4, (sizeof...(Stated) != 1 || flowgraph::detail::no_attention_arguments<X...>),
    "metrics::top_k_accuracy takes a number as a template argument, what was predicted, labels and a name, as in top_k_accuracy<5>(logits, labels, \"top_k_accuracy\")")
FLOWGRAPH_MISUSE_BEYOND(
    confusion_matrix, 4, (sizeof...(Stated) != 1 || flowgraph::detail::no_attention_arguments<X...>),
    "metrics::confusion_matrix takes a number as a template argument, what was predicted, labels and a name, as in confusion_matrix<10>(logits, labels, \"confusion_matrix\")")

}  // namespace metrics
}  // namespace flowgraph
