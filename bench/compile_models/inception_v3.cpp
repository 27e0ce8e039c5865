// Inception-v3 (Szegedy et al. 2015) as it is trained: 299 x 299 images, 94 convolutions with batch norm, the auxiliary
// classifier, weight gradients and momentum, and a session that runs its training step. What bench/compile times: a
// model of many different shapes.
#include <cstdint>
#include <flowgraph.hpp>
#include <string_view>
#include <vector>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr fg::conv valid{}, halving{.stride = {2, 2}}, same{.padding = fg::same};
inline constexpr fg::pool halving_pool{.window = {3, 3}, .stride = {2, 2}};
inline constexpr fg::pool same_pool{.window = {3, 3}, .stride = {1, 1}, .padding = fg::same};

// Convolution without a bias, batch norm, relu.
template <int Channels, int Height, int Width, fg::conv Options = same>
constexpr auto unit(fg::graph& g, const auto& x, std::string_view name) {
  const auto scope = g.scope(name);
  const auto y = fg::layers::conv2d<Channels, Height, Width, Options>(x, "conv", {.bias = false});
  return relu(fg::layers::batch_norm(y, "norm", fg::phase::training));
}

// 35 x 35
template <int Pooled>
constexpr auto mixed_a(fg::graph& g, const auto& x, std::string_view name) {
  const auto scope = g.scope(name);
  const auto a = unit<64, 1, 1>(g, x, "a1");
  const auto b = unit<64, 5, 5>(g, unit<48, 1, 1>(g, x, "b1"), "b2");
  const auto c = unit<96, 3, 3>(g, unit<96, 3, 3>(g, unit<64, 1, 1>(g, x, "c1"), "c2"), "c3");
  const auto d = unit<Pooled, 1, 1>(g, fg::avg_pool<same_pool>(x), "d1");
  return fg::concat<3>(a, b, c, d);
}

// 35 x 35 to 17 x 17
constexpr auto mixed_b(fg::graph& g, const auto& x, std::string_view name) {
  const auto scope = g.scope(name);
  const auto a = unit<384, 3, 3, halving>(g, x, "a1");
  const auto b = unit<96, 3, 3, halving>(g, unit<96, 3, 3>(g, unit<64, 1, 1>(g, x, "b1"), "b2"), "b3");
  return fg::concat<3>(a, b, fg::max_pool<halving_pool>(x));
}

// 17 x 17
template <int Inner>
constexpr auto mixed_c(fg::graph& g, const auto& x, std::string_view name) {
  const auto scope = g.scope(name);
  const auto a = unit<192, 1, 1>(g, x, "a1");
  const auto b = unit<192, 7, 1>(g, unit<Inner, 1, 7>(g, unit<Inner, 1, 1>(g, x, "b1"), "b2"), "b3");
  const auto c1 = unit<Inner, 7, 1>(g, unit<Inner, 1, 1>(g, x, "c1"), "c2");
  const auto c2 = unit<192, 1, 7>(g, unit<Inner, 7, 1>(g, unit<Inner, 1, 7>(g, c1, "c3"), "c4"), "c5");
  const auto d = unit<192, 1, 1>(g, fg::avg_pool<same_pool>(x), "d1");
  return fg::concat<3>(a, b, c2, d);
}

// 17 x 17 to 8 x 8
constexpr auto mixed_d(fg::graph& g, const auto& x, std::string_view name) {
  const auto scope = g.scope(name);
  const auto a = unit<320, 3, 3, halving>(g, unit<192, 1, 1>(g, x, "a1"), "a2");
  const auto b1 = unit<192, 7, 1>(g, unit<192, 1, 7>(g, unit<192, 1, 1>(g, x, "b1"), "b2"), "b3");
  const auto b2 = unit<192, 3, 3, halving>(g, b1, "b4");
  return fg::concat<3>(a, b2, fg::max_pool<halving_pool>(x));
}

// 8 x 8
constexpr auto mixed_e(fg::graph& g, const auto& x, std::string_view name) {
  const auto scope = g.scope(name);
  const auto a = unit<320, 1, 1>(g, x, "a1");
  const auto b = unit<384, 1, 1>(g, x, "b1");
  const auto bs = fg::concat<3>(unit<384, 1, 3>(g, b, "b2"), unit<384, 3, 1>(g, b, "b3"));
  const auto c = unit<384, 3, 3>(g, unit<448, 1, 1>(g, x, "c1"), "c2");
  const auto cs = fg::concat<3>(unit<384, 1, 3>(g, c, "c3"), unit<384, 3, 1>(g, c, "c4"));
  const auto d = unit<192, 1, 1>(g, fg::avg_pool<same_pool>(x), "d1");
  return fg::concat<3>(a, bs, cs, d);
}

inline constexpr auto inception_v3 = fg::define([](fg::graph& g) {
  const auto x = g.placeholder<float, batch, 299, 299, 3>("x");
  const auto y = g.placeholder<std::int64_t, batch>("y");
  const auto s1 = unit<64, 3, 3>(g, unit<32, 3, 3, valid>(g, unit<32, 3, 3, halving>(g, x, "stem1"), "stem2"), "stem3");
  const auto s2 = unit<192, 3, 3, valid>(g, unit<80, 1, 1, valid>(g, fg::max_pool<halving_pool>(s1), "stem4"), "stem5");
  const auto a =
      mixed_a<64>(g, mixed_a<64>(g, mixed_a<32>(g, fg::max_pool<halving_pool>(s2), "mixed0"), "mixed1"), "mixed2");
  const auto b = mixed_b(g, a, "mixed3");
  const auto c =
      mixed_c<192>(g, mixed_c<160>(g, mixed_c<160>(g, mixed_c<128>(g, b, "mixed4"), "mixed5"), "mixed6"), "mixed7");
  const auto e = mixed_e(g, mixed_e(g, mixed_d(g, c, "mixed8"), "mixed9"), "mixed10");  // [batch, 8, 8, 2048]
  const auto features = fg::dropout(fg::reduce_mean<1, 2>(e), 0.2);
  const auto logits = g.name("logits", fg::layers::dense<1000>(features, "predictions"));

  const auto small = fg::avg_pool<fg::pool{.window = {5, 5}, .stride = {3, 3}}>(c);       // [batch, 5, 5, 768]
  const auto aux = unit<768, 5, 5, valid>(g, unit<128, 1, 1>(g, small, "aux1"), "aux2");  // [batch, 1, 1, 768]
  const auto aux_logits = fg::layers::dense<1000>(fg::reshape<batch, 768>(aux), "aux_predictions");

  const auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)) +
                                       0.3 * reduce_mean(softmax_cross_entropy_with_logits(aux_logits, y)));
  g.name("accuracy", reduce_mean(fg::cast<float>(equal(fg::argmax<1>(logits), y))));
  g.name("train", fg::momentum(0.045).minimize(loss));
});

int main() {
  fg::session<inception_v3> s;
  const std::vector<float> images(299 * 299 * 3);
  const std::vector<std::int64_t> labels{0};
  const float loss = s.run<"loss", "train">(fg::feed<"x">(images), fg::feed<"y">(labels));
  return loss > 0 ? 0 : 1;
}
