// Sequences that a model writes token by token, inside one step, until all of them have ended: each token is chosen
// from what the model says of those before it.
//   auto step = [&](auto tokens, auto h) { ...; return std::tuple(logits, next); };   // [batch] -> [batch, vocabulary]
//   auto [tokens, lengths] = fg::greedy_decode<50>(step, begin, end, h);
#pragma once
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/core/special_values.hpp>
#include "fill.hpp"
#include "gather.hpp"
#include "losses.hpp"
#include "matrix.hpp"
#include "scan.hpp"
#include "sort.hpp"

namespace flowgraph {

namespace detail {

// step(tokens, states...) as (logits, tuple of the next states).
template <class Step, class Tokens, class... S>
constexpr auto decoder_step(const Step& step, const Tokens& tokens, const S&... states) {
  const auto given = results_of(step, tokens, states...);
  return std::pair(std::get<0>(given), part_of<1, sizeof...(S)>(given));
}

// Some row has not ended, and there is room.
template <class I, class Ended>
constexpr auto decoder_goes_on(caller where, const I& i, int most, const Ended& ended) {
  return logical_and(less(i, most, where), logical_not(reduce_all(ended, where), where), where);
}

}  // namespace detail

// The likeliest token at each step, from `begin` on, for every row by itself. step(tokens, states...) gives
// (logits, states...): begin, tokens [batch], int64; logits [batch, vocabulary]. Gives the tokens, [Most, batch],
// without `begin` and full of `end` behind each row's end; and how many there are before it, [batch]. The loop ends
// with the last row, and after Most tokens.
template <int Most, class Step, any_tensor B, any_tensor... S>
constexpr auto greedy_decode(const Step& step, const B& begin, std::int64_t end, const S&... states) {
  static_assert(rank_v<B> == 1 && std::is_same_v<element_t<B>, std::int64_t>,
                "greedy_decode: begin must be int64, [batch]");
  using array = tensor<std::int64_t, Most, extent_v<0, B>>;
  graph_data& g = *begin.graph;
  const caller where(g.where);
  const auto zero = detail::literal_tensor<std::int64_t>(where, g, 0);
  const auto written = detail::source_node<ops::constant, array>(where, g, ops::constant::attrs{end});
  const auto none = not_equal(begin, begin, where);  // has ended
  const auto goes_on = [&](const auto& i, const auto&, const auto& ended, const auto&...) {
    return detail::decoder_goes_on(where, i, Most, ended);
  };
  const auto turn = [&](const auto& i, const auto& tokens, const auto& ended, const auto& out, const auto&... s) {
    const auto [logits, next_states] = detail::decoder_step(step, tokens, s...);
    const auto chosen = select(ended, end, argmax<1>(logits, where), where);
    return std::tuple_cat(std::tuple(add(i, 1, where), chosen, logical_or(ended, equal(chosen, end, where), where),
                                     write(out, i, chosen, where)),
                          next_states);
  };
  const auto all =
      while_loop(goes_on, turn, zero, detail::as_tensor(begin), none, written, detail::as_tensor(states)...);
  const auto tokens = std::get<3>(all);
  return std::tuple(tokens, reduce_sum<0>(cast<std::int64_t>(not_equal(tokens, end, where), where), where));
}

// The Beam likeliest sequences of one, by the sum of log-probabilities: at each step the best of all continuations of
// those at hand. One that has ended keeps its score. Rows of tokens, logits and states are beams: step and begin as for
// greedy_decode, [Beam], with equal rows in the beginning. Gives the tokens, [Beam, Most], best first, full of `end`
// behind the end; and the scores, [Beam].
template <int Most, class Step, any_tensor B, any_tensor... S>
constexpr auto beam_search(const Step& step, const B& begin, std::int64_t end, const S&... states) {
  constexpr std::int64_t beam = rank_v<B> == 1 ? tensor_t<B>::shape.number[0] : -1;
  static_assert(beam > 0 && std::is_same_v<element_t<B>, std::int64_t>, "beam_search: begin must be int64, [Beam]");
  using logits_type = std::remove_cvref_t<
      decltype(detail::decoder_step(step, detail::as_tensor(begin), detail::as_tensor(states)...).first)>;
  using T = element_t<logits_type>;
  constexpr std::int64_t words = logits_type::shape.number[1];
  static_assert(words > 0, "beam_search: the vocabulary must have an extent that is a number");
  constexpr int width = static_cast<int>(beam), vocabulary = static_cast<int>(words);
  constexpr double never = -detail::infinity;
  graph_data& g = *begin.graph;
  const caller where(g.where);
  const auto zero = detail::literal_tensor<std::int64_t>(where, g, 0);
  const auto written =
      detail::source_node<ops::constant, tensor<std::int64_t, Most, width>>(where, g, ops::constant::attrs{end});
  const auto none = not_equal(begin, begin, where);
  // Equal beams would stay equal: only the first one counts in the beginning.
  const auto first = detail::source_node<ops::range, tensor<T, width>>(where, g, ops::count_up(detail::dtype_of<T>));
  const auto scores = select(equal(first, 0, where), zeros_like(first, where), never, where);
  const auto only_end = one_hot<vocabulary, T>(detail::literal_tensor<std::int64_t>(where, g, end), 0, never, where);
  const auto goes_on = [&](const auto& i, const auto&, const auto& ended, const auto&...) {
    return detail::decoder_goes_on(where, i, Most, ended);
  };
  const auto turn = [&](const auto& i, const auto& tokens, const auto& ended, const auto& sums, const auto& out,
                        const auto&... s) {
    const auto [logits, next_states] = detail::decoder_step(step, tokens, s...);
    const auto each =
        select(expand_dims<1>(ended, where), only_end, log_softmax(logits, where), where);  // [beam, vocabulary]
    const auto [best, at] =
        top_k<width>(reshape<width * vocabulary>(add(expand_dims<1>(sums, where), each, where), where), where);
    const auto parent = floordiv(at, vocabulary, where);
    const auto chosen = mod(at, vocabulary, where);
    const auto of_parents =
        std::apply([&](const auto&... x) { return std::tuple(gather<0>(x, parent, where)...); }, next_states);
    return std::tuple_cat(std::tuple(add(i, 1, where), chosen,
                                     logical_or(gather<0>(ended, parent, where), equal(chosen, end, where), where),
                                     best, write(gather<1>(out, parent, where), i, chosen, where)),
                          of_parents);
  };
  const auto all =
      while_loop(goes_on, turn, zero, detail::as_tensor(begin), none, scores, written, detail::as_tensor(states)...);
  return std::tuple(transpose<1, 0>(std::get<4>(all), where), std::get<3>(all));
}

}  // namespace flowgraph
