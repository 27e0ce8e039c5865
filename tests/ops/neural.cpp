// Losses, normalisation, dropout and embeddings: result types and gradients as graphs.
#include <flowgraph/functions/neural.hpp>
#include <flowgraph/language/gradients.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim length{"length"};

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

constexpr bool types() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 5>("x");
  auto z = g.placeholder<float, batch, 5>("z");
  static_assert(same<decltype(sigmoid_cross_entropy_with_logits(x, z)), fg::tensor<float, batch, 5>>);
  static_assert(same<decltype(l2_loss(x)), fg::tensor<float>>);
  static_assert(same<decltype(mse(x, z)), fg::tensor<float>>);
  static_assert(same<decltype(huber(x, z, 0.5)), fg::tensor<float>>);
  static_assert(same<decltype(dropout(x, 0.5)), fg::tensor<float, batch, 5>>);

  auto scale = g.variable<float, 5>("scale");
  auto offset = g.variable<float, 5>("offset");
  static_assert(same<decltype(layer_norm(x, scale, offset)), fg::tensor<float, batch, 5>>);
  auto [y, mean, variance] = batch_norm(x, scale, offset);
  static_assert(same<std::remove_cvref_t<decltype(y)>, fg::tensor<float, batch, 5>>);
  static_assert(same<std::remove_cvref_t<decltype(mean)>, fg::tensor<float, 5>>);
  static_assert(same<std::remove_cvref_t<decltype(variance)>, fg::tensor<float, 5>>);
  static_assert(same<decltype(batch_norm(x, scale, offset, mean, variance)), fg::tensor<float, batch, 5>>);

  auto table = g.variable<float, 1000, 5>("table");
  auto words = g.placeholder<std::int32_t, batch, length>("words");
  static_assert(same<decltype(embedding_lookup(table, words)), fg::tensor<float, batch, length, 5>>);
  return true;
}
static_assert(types());

// The gradient's node draws the same numbers.
constexpr bool dropout_draws_again() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 5>("x");
  auto y = dropout(x, 0.5), z = dropout(x, 0.5);
  const fg::ref first(y), second(z), gradient(gradients(reduce_sum(y), x));
  const auto stream = [](const fg::ref& r) { return r.attrs<fg::ops::dropout::attrs>().stream; };
  return gradient.is(fg::op_def_of<fg::ops::dropout>) && stream(gradient) == stream(first) &&
         stream(first) != stream(second);
}
static_assert(dropout_draws_again());

// One lookup: its rows. Several: their rows one behind the other. With a dense gradient beside them: a sum.
constexpr bool sparse_gradients() {
  fg::graph g;
  auto table = g.variable<float, 1000, 5>("table");
  auto words = g.placeholder<std::int32_t, batch, length>("words");
  auto more = g.placeholder<std::int64_t, batch>("more");
  auto one = embedding_lookup(table, words);
  auto two = embedding_lookup(table, more);
  const fg::ref single(gradients(reduce_sum(one * one), table));
  if (!single.is(fg::op_def_of<fg::ops::indexed_slices>) || single.input(0).id != words.id) return false;

  const fg::ref joined(gradients(reduce_sum(one * one) + reduce_sum(two), table));
  if (!joined.is(fg::op_def_of<fg::ops::indexed_slices>)) return false;
  const fg::extents rows = joined.input(1).shape();
  if (rows.rank != 2 || g.data().symbols.text(rows[0]) != "batch*length+batch" || rows[1] != 5) return false;

  const fg::ref mixed(gradients(reduce_sum(one * one) + l2_loss(table), table));
  return mixed.is(fg::op_def_of<fg::ops::add>) && g.data().first_fault.why == fg::problem::none;
}
static_assert(sparse_gradients());

}  // namespace
