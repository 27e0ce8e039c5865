// Recurrent layers: lstm and gru whose parameters have the names that PyTorch's nn.LSTM and nn.GRU give them.
//   auto [y, h, c] = fg::layers::lstm<128>(x, "encoder");       // encoder/weight_ih_l0: [512, inputs], ...
#pragma once
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/functions/recurrent.hpp>
#include "layers.hpp"

namespace flowgraph::layers {

struct recurrent {
  bool batch_first = false;  // x and y are [batch, time, ...]
  bool bidirectional =
      false;  // y: forward and backward side by side, [time, batch, 2 * units]; states [2, batch, units]
};

namespace detail {

// Not to be taken for a state.
template <class T>
concept optional_lengths = optional_tensor<T> && !floating_tensor<T>;

struct direction_names {
  const char *weight_ih, *weight_hh, *bias_ih, *bias_hh;
};
inline constexpr direction_names forward_names{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"};
inline constexpr direction_names backward_names{"weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
                                                "bias_hh_l0_reverse"};

// As PyTorch begins them: uniform within 1 / sqrt(units).
template <int Gates, int Units, class X>
constexpr auto recurrent_parameters(layer_scope& layer, const direction_names& names) {
  using T = element_t<X>;
  constexpr double bound = 1 / square_root(Units);
  const initial_value initial = init::uniform(-bound, bound);
  return recurrent_weights{layer.parameter<T, Gates * Units, units_of<X>()>(names.weight_ih, initial),
                           layer.parameter<T, Gates * Units, Units>(names.weight_hh, initial),
                           layer.parameter<T, Gates * Units>(names.bias_ih, initial),
                           layer.parameter<T, Gates * Units>(names.bias_hh, initial)};
}

template <class Rule, int Units, recurrent Options, std::size_t... K, class X, class Lengths, class... S>
constexpr auto recurrent_layer(layer_scope& layer, std::index_sequence<K...>, const X& x, const Lengths& lengths,
                               const S&... given) {
  using T = element_t<X>;
  constexpr int directions = Options.bidirectional ? 2 : 1;
  constexpr auto batch = extent_v<(Options.batch_first ? 0 : 1), X>;
  const Rule rule{layer.where};
  // The states of one direction: given, or zeros.
  const auto state = [&]<int Direction>(std::integral_constant<int, Direction>, const auto& all) {
    if constexpr (any_tensor<std::remove_cvref_t<decltype(all)>>) {
      if constexpr (Options.bidirectional)
        return squeeze<0>(flowgraph::slice<from<Direction, 0, 0>, 1, batch, Units>(all, layer.where), layer.where);
      else
        return as_tensor(all);
    } else {
      return source_node<ops::constant, tensor<T, batch, Units>>(layer.where, layer.graph, ops::constant::attrs{0});
    }
  };
  const auto run = [&]<int Direction>(std::integral_constant<int, Direction> d) {
    const auto w = recurrent_parameters<Rule::gates, Units, X>(layer, Direction == 0 ? forward_names : backward_names);
    return flowgraph::detail::recurrent<sequence{Options.batch_first, Direction == 1}>(rule, x, w, lengths,
                                                                                       state(d, given)...);
  };
  const auto forward = run(std::integral_constant<int, 0>{});
  if constexpr (directions == 1) {
    return forward;
  } else {
    const auto backward = run(std::integral_constant<int, 1>{});
    const auto joined = [&](const auto& a, const auto& b) {
      return stack<0>(a, b, {}, {}, {}, {}, {}, {}, layer.where);
    };
    return std::tuple(concat<2>(std::get<0>(forward), std::get<0>(backward), {}, {}, {}, {}, {}, {}, layer.where),
                      joined(std::get<K + 1>(forward), std::get<K + 1>(backward))...);
  }
}

}  // namespace detail

// (y, h, c): x [time, batch, inputs] -> y [time, batch, Units], from zero states or from these. lengths: [batch], as
// for fg::lstm; {} for none.
template <int Units, recurrent Options = recurrent{}, any_tensor X,
          detail::optional_lengths Lengths = flowgraph::detail::absent>
constexpr auto lstm(const X& x, std::string_view name, const Lengths& lengths = {}, caller where = {}) {
  detail::layer_scope layer(*x.graph, name, where);
  return detail::recurrent_layer<flowgraph::detail::lstm_rule, Units, Options>(
      layer, std::index_sequence<0, 1>{}, detail::as_tensor(x), lengths, detail::absent{}, detail::absent{});
}
template <int Units, recurrent Options = recurrent{}, any_tensor X, any_tensor H, any_tensor C,
          detail::optional_lengths Lengths = flowgraph::detail::absent>
constexpr auto lstm(const X& x, std::string_view name, const std::tuple<H, C>& state, const Lengths& lengths = {},
                    caller where = {}) {
  detail::layer_scope layer(*x.graph, name, where);
  return detail::recurrent_layer<flowgraph::detail::lstm_rule, Units, Options>(
      layer, std::index_sequence<0, 1>{}, detail::as_tensor(x), lengths, std::get<0>(state), std::get<1>(state));
}

// (y, h), otherwise as lstm.
template <int Units, recurrent Options = recurrent{}, any_tensor X,
          detail::optional_lengths Lengths = flowgraph::detail::absent>
constexpr auto gru(const X& x, std::string_view name, const Lengths& lengths = {}, caller where = {}) {
  detail::layer_scope layer(*x.graph, name, where);
  return detail::recurrent_layer<flowgraph::detail::gru_rule, Units, Options>(
      layer, std::index_sequence<0>{}, detail::as_tensor(x), lengths, detail::absent{});
}
template <int Units, recurrent Options = recurrent{}, any_tensor X, floating_tensor H,
          detail::optional_lengths Lengths = flowgraph::detail::absent>
constexpr auto gru(const X& x, std::string_view name, const H& state, const Lengths& lengths = {}, caller where = {}) {
  detail::layer_scope layer(*x.graph, name, where);
  return detail::recurrent_layer<flowgraph::detail::gru_rule, Units, Options>(layer, std::index_sequence<0>{},
                                                                              detail::as_tensor(x), lengths, state);
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE_IF(
    lstm, sizeof...(Stated) == 0 || flowgraph::detail::no_tensor_and_name<X...>,
    "layers::lstm takes its units as a template argument, a tensor and a name, as in lstm<64>(x, \"lstm\")")
FLOWGRAPH_MISUSE_IF(
    gru, sizeof...(Stated) == 0 || flowgraph::detail::no_tensor_and_name<X...>,
    "layers::gru takes its units as a template argument, a tensor and a name, as in gru<64>(x, \"gru\")")

}  // namespace flowgraph::layers
