#include <cstdint>
#include <tuple>

#include <flowgraph/define.hpp>

#include "rows.hpp"

namespace flowgraph::testing {

namespace {

constexpr dim batch{"batch"};
constexpr dim steps{"steps"};

}  // namespace

// What models of sequences are made of: recurrent layers, attention, decoders that stop by themselves.
void sequence_rows() {
  const row_options sizes{.low = -1, .high = 4, .extents = {batch(3), steps(4)}};
  row<tensor<float, steps, batch, 3>, tensor<float, 16, 3>, tensor<float, 16, 4>, tensor<std::int64_t, batch>>(
      "lstm",
      [](auto x, auto w_ih, auto w_hh, auto lengths) {
        const auto zero =
            zeros_like(matmul(squeeze<0>(slice<from<0, 0, 0>, 1, batch, 3>(x)), slice<from<0, 0>, 3, 4>(w_hh)));
        return lstm(tanh(x), std::tuple(zero, zero), recurrent_weights{w_ih * 0.1f, w_hh * 0.1f}, lengths);
      },
      sizes);
  row<tensor<float, batch, steps, 8>>(
      "attention", [](auto x) { return layers::multi_head_attention<2>(x, x, "attention"); }, sizes);
  row<tensor<float, batch, 4>, tensor<float, 5, 3>, tensor<float, 12, 3>, tensor<float, 12, 4>, tensor<float, 4, 5>>(
      "greedy_decode",
      [](auto h0, auto table, auto w_ih, auto w_hh, auto w) {
        const auto step = [&](auto tokens, auto h) {
          const auto next = gru_cell(embedding_lookup(table, tokens), h, recurrent_weights{w_ih, w_hh});
          return std::tuple(matmul(next, w), next);
        };
        const auto begin = argmax<1>(h0);
        return greedy_decode<6>(step, begin, 1, h0);
      },
      {.extents = {batch(3)}});
  row<tensor<float, 4>, tensor<float, 5, 3>, tensor<float, 12, 3>, tensor<float, 12, 4>, tensor<float, 4, 5>>(
      "beam_search", [](auto h0, auto table, auto w_ih, auto w_hh, auto w) {
        const auto step = [&](auto tokens, auto h) {
          const auto next = gru_cell(embedding_lookup(table, tokens), h, recurrent_weights{w_ih, w_hh});
          return std::tuple(matmul(next, w), next);
        };
        const auto start = broadcast_to<3, 4>(h0);  // three beams
        return beam_search<6>(step, argmax<1>(start), 1, start);
      });
}

}  // namespace flowgraph::testing
