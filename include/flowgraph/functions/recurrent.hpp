// Recurrent networks over the leading axis of a sequence, with the formulas, the order of gates and the shapes of
// weights of PyTorch's nn.LSTM and nn.GRU, so that weights can be exchanged:
//   auto [y, h, c] = fg::lstm(x, std::tuple(h0, c0), fg::recurrent_weights{w_ih, w_hh, b_ih, b_hh});
// x: [time, batch, inputs]; h0, c0: [batch, units]; w_ih: [4 * units, inputs], w_hh: [4 * units, units], biases
// [4 * units] or none. y: [time, batch, units], the outputs of all steps; h, c: the states behind the last one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "concat.hpp"
#include "fill.hpp"
#include "matrix.hpp"
#include "scan.hpp"
#include "slice.hpp"

namespace flowgraph {

template <any_tensor WeightIh, any_tensor WeightHh, detail::optional_tensor BiasIh = detail::absent,
          detail::optional_tensor BiasHh = detail::absent>
struct recurrent_weights {
  WeightIh weight_ih;  // [gates * units, inputs]
  WeightHh weight_hh;  // [gates * units, units]
  BiasIh bias_ih = {};
  BiasHh bias_hh = {};
};
template <any_tensor A, any_tensor B>
recurrent_weights(A, B) -> recurrent_weights<A, B>;
template <any_tensor A, any_tensor B, any_tensor C, any_tensor D>
recurrent_weights(A, B, C, D) -> recurrent_weights<A, B, C, D>;

struct sequence {
  bool batch_first = false;  // x and y are [batch, time, ...]
  bool reversed = false;     // from the last step to the first; y[0] is the output that comes last
};

namespace detail {

template <class A, class B, class... C>
constexpr bool weights_fit(int gates, const shape_text& x, const shape_text& h, const recurrent_weights<A, B, C...>*) {
  const shape_text &ih = tensor_t<A>::shape, &hh = tensor_t<B>::shape;
  if (x.rank < 1 || h.rank != 2 || ih.rank != 2 || hh.rank != 2) return false;
  const std::int64_t units = h.number[1], inputs = x.number[x.rank - 1];
  return units > 0 && inputs > 0 && ih.number[0] == gates * units && ih.number[1] == inputs &&
         hh.number[0] == gates * units && hh.number[1] == units;
}

// Rank: of x.
template <class Rule, int Rank, class X, class H, class W>
constexpr auto check_weights() {
  constexpr bool fit = rank_v<X> == Rank && weights_fit(Rule::gates, X::shape, H::shape, static_cast<W*>(nullptr));
  if constexpr (!fit)
    mistake<problem::recurrent_shapes, X, H, tensor_t<decltype(W::weight_ih)>, tensor_t<decltype(W::weight_hh)>>();
  return std::bool_constant<fit>{};
}

// i, f, g, o = w_ih x + b_ih + w_hh h + b_hh; c' = sigmoid(f) c + sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c')
struct lstm_rule {
  static constexpr int gates = 4;
  caller where;

  // What a step needs of x, for all steps at once: one large product instead of one in each turn.
  template <class X, class W>
  constexpr auto project(const X& x, const W& w) const {
    const auto y = matmul<transpose_b>(x, w.weight_ih, where);
    if constexpr (any_tensor<decltype(w.bias_ih)>)
      return add(y, add(w.bias_ih, w.bias_hh, where), where);
    else
      return y;
  }
  template <class Projected, class W, class H, class C>
  constexpr auto step(const Projected& x, const W& w, const H& h, const C& c) const {
    const auto [i, f, g, o] = split<-1, 4>(add(x, matmul<transpose_b>(h, w.weight_hh, where), where), where);
    const auto next = add(mul(sigmoid(f, where), c, where), mul(sigmoid(i, where), tanh(g, where), where), where);
    return std::tuple(mul(sigmoid(o, where), tanh(next, where), where), next);
  }
};

// r, z = sigmoid(w_ih x + b_ih + w_hh h + b_hh); n = tanh(w_in x + b_in + r (w_hn h + b_hn)); h' = n + z (h - n)
struct gru_rule {
  static constexpr int gates = 3;
  caller where;

  template <class Y, class Bias>
  constexpr auto with_bias(const Y& y, const Bias& bias) const {
    if constexpr (any_tensor<Bias>)
      return add(y, bias, where);
    else
      return y;
  }
  template <class X, class W>
  constexpr auto project(const X& x, const W& w) const {
    return with_bias(matmul<transpose_b>(x, w.weight_ih, where), w.bias_ih);
  }
  template <class Projected, class W, class H>
  constexpr auto step(const Projected& x, const W& w, const H& h) const {
    const auto [rx, zx, nx] = split<-1, 3>(x, where);
    const auto [rh, zh, nh] = split<-1, 3>(with_bias(matmul<transpose_b>(h, w.weight_hh, where), w.bias_hh), where);
    const auto n = tanh(add(nx, mul(sigmoid(add(rx, rh, where), where), nh, where), where), where);
    return std::tuple(add(n, mul(sigmoid(add(zx, zh, where), where), sub(h, n, where), where), where));
  }
};

// Which steps belong to their sequences: [time, batch, 1].
template <class X, class Lengths>
constexpr auto sequence_mask(caller where, const X& x, const Lengths& lengths) {
  const auto at = source_node<ops::range, tensor<element_t<Lengths>, extent_v<0, X>>>(
      where, *x.graph, ops::count_up(detail::dtype_of<element_t<Lengths>>));
  return less(reshape<extent_v<0, X>, 1, 1>(at, where), reshape<1, extent_v<0, Lengths>, 1>(lengths, where), where);
}

// (y, states...) of time-major x. Behind its length a sequence keeps its states, and y is 0. Backward, its states
// begin to change with its own last step.
template <bool Reversed, class Rule, class X, class W, class Lengths, class... S>
constexpr auto run_recurrent(const Rule& rule, const X& x, const W& w, const Lengths& lengths, const S&... initial) {
  constexpr std::size_t n = sizeof...(S);
  const auto in_order = [&](const auto& all) {
    if constexpr (Reversed)
      return reverse<0>(all, rule.where);
    else
      return all;
  };
  const auto next = [&](const auto& given) {
    return std::apply([&](const auto&... s) { return rule.step(std::get<n>(given), w, s...); }, part_of<0, n>(given));
  };
  const auto projected = in_order(rule.project(x, w));  // [time, batch, gates * units]
  const std::tuple states(initial...);
  const auto all = [&] {
    if constexpr (any_tensor<Lengths>) {
      const auto turn = [&](const auto&... v) {
        const std::tuple given(v...);
        const auto& inside = std::get<n + 1>(given);
        const auto made = next(given);
        const auto kept = [&]<std::size_t... K>(std::index_sequence<K...>) {
          return std::tuple(select(inside, std::get<K>(made), std::get<K>(given), rule.where)...);
        }(std::make_index_sequence<n>{});
        return std::tuple_cat(kept, std::tuple(select(inside, std::get<0>(made), 0, rule.where)));
      };
      return scan(turn, states, projected, in_order(sequence_mask(rule.where, x, lengths)));
    } else {
      const auto turn = [&](const auto&... v) {
        const auto made = next(std::tuple(v...));
        return std::tuple_cat(made, std::tuple(std::get<0>(made)));
      };
      return scan(turn, states, projected);
    }
  }();
  return std::tuple_cat(std::tuple(in_order(std::get<n>(all))), part_of<0, n>(all));
}

template <sequence Options, class Rule, class X, class W, class Lengths, class H, class... S>
constexpr auto recurrent(const Rule& rule, const X& x, const W& w, const Lengths& lengths, const H& h, const S&... s) {
  if constexpr (!decltype(check_weights<Rule, 3, X, H, W>())::value) {
    return std::tuple(x, h, s...);
  } else if constexpr (Options.batch_first) {
    const auto all = run_recurrent<Options.reversed>(rule, transpose<1, 0, 2>(x, rule.where), w, lengths, h, s...);
    return std::tuple_cat(std::tuple(transpose<1, 0, 2>(std::get<0>(all), rule.where)),
                          part_of<1, 1 + sizeof...(S)>(all));
  } else {
    return run_recurrent<Options.reversed>(rule, x, w, lengths, h, s...);
  }
}

}  // namespace detail

// (y, h, c). lengths: [batch], integers; behind its length a sequence's states stay and y is 0, as in PyTorch's packed
// sequences. lstm<fg::sequence{.batch_first = true}>(...) takes and gives [batch, time, ...].
template <sequence Options = sequence{}, any_tensor X, any_tensor H, any_tensor C, class... W,
          detail::optional_tensor Lengths = detail::absent>
constexpr auto lstm(const X& x, const std::tuple<H, C>& state, const recurrent_weights<W...>& weights,
                    const Lengths& lengths = {}, caller where = {}) {
  return detail::recurrent<Options>(detail::lstm_rule{where}, detail::as_tensor(x), weights, lengths,
                                    detail::as_tensor(std::get<0>(state)), detail::as_tensor(std::get<1>(state)));
}

// (y, h), otherwise as lstm.
template <sequence Options = sequence{}, any_tensor X, any_tensor H, class... W,
          detail::optional_tensor Lengths = detail::absent>
constexpr auto gru(const X& x, const H& state, const recurrent_weights<W...>& weights, const Lengths& lengths = {},
                   caller where = {}) {
  return detail::recurrent<Options>(detail::gru_rule{where}, detail::as_tensor(x), weights, lengths,
                                    detail::as_tensor(state));
}

// One step: x [batch, inputs]. (h, c).
template <any_tensor X, any_tensor H, any_tensor C, class... W>
constexpr auto lstm_cell(const X& x, const std::tuple<H, C>& state, const recurrent_weights<W...>& weights,
                         caller where = {}) {
  using rule = detail::lstm_rule;
  if constexpr (!decltype(detail::check_weights<rule, 2, tensor_t<X>, tensor_t<H>, recurrent_weights<W...>>())::value)
    return std::tuple<tensor_t<H>, tensor_t<C>>(state);
  else
    return rule{where}.step(rule{where}.project(x, weights), weights, std::get<0>(state), std::get<1>(state));
}
template <any_tensor X, any_tensor H, class... W>
constexpr auto gru_cell(const X& x, const H& state, const recurrent_weights<W...>& weights, caller where = {}) {
  using rule = detail::gru_rule;
  if constexpr (!decltype(detail::check_weights<rule, 2, tensor_t<X>, tensor_t<H>, recurrent_weights<W...>>())::value)
    return detail::as_tensor(state);
  else
    return std::get<0>(rule{where}.step(rule{where}.project(x, weights), weights, state));
}

// Calls that fit none of these.
namespace detail {

template <class T>
inline constexpr bool is_weights = false;
template <class... W>
inline constexpr bool is_weights<recurrent_weights<W...>> = true;
template <class... X>
inline constexpr bool lstm_arguments = false;
template <class A, class B, class C, class... X>
inline constexpr bool lstm_arguments<A, B, C, X...> = any_tensor<A> && is_tuple<B> && is_weights<C>;
template <class... X>
inline constexpr bool gru_arguments = false;
template <class A, class B, class C, class... X>
inline constexpr bool gru_arguments<A, B, C, X...> = any_tensor<A> && any_tensor<B> && is_weights<C>;
template <class... X>
concept no_lstm_arguments = !lstm_arguments<X...>;
template <class... X>
concept no_gru_arguments = !gru_arguments<X...>;

}  // namespace detail

FLOWGRAPH_MISUSE_IF(
    lstm, flowgraph::detail::no_lstm_arguments<X...>,
    "lstm takes x, a std::tuple of its two states, and weights, as in lstm(x, std::tuple(h, c), fg::recurrent_weights{w_ih, w_hh})")
FLOWGRAPH_MISUSE_IF(
    lstm_cell, flowgraph::detail::no_lstm_arguments<X...>,
    "lstm_cell takes x, a std::tuple of its two states, and weights, as in lstm_cell(x, std::tuple(h, c), fg::recurrent_weights{w_ih, w_hh})")
FLOWGRAPH_MISUSE_IF(gru, flowgraph::detail::no_gru_arguments<X...>,
                    "gru takes x, a state and weights, as in gru(x, h, fg::recurrent_weights{w_ih, w_hh})")
FLOWGRAPH_MISUSE_IF(gru_cell, flowgraph::detail::no_gru_arguments<X...>,
                    "gru_cell takes x, a state and weights, as in gru_cell(x, h, fg::recurrent_weights{w_ih, w_hh})")

}  // namespace flowgraph
