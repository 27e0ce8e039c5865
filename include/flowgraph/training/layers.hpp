// Layers: functions that make the parameters they need, named below the layer's own name, and return typed tensors.
//   auto h = relu(fg::layers::dense<128>(x, "hidden"));          // hidden/w: [64, 128], hidden/b: [128]
// While auto s = g.share_variables(); lives, a layer whose name is there already uses its parameters, so that one
// description serves training and inference; else its name is taken.
// Without a tensor a layer is a function of one, for sequential and residual.
#pragma once
#include <flowgraph/functions/convolution.hpp>
#include <flowgraph/functions/dropout.hpp>
#include <flowgraph/functions/embedding.hpp>
#include <flowgraph/functions/losses.hpp>
#include <flowgraph/functions/matrix.hpp>
#include <flowgraph/functions/normalization.hpp>
#include <flowgraph/functions/reshape.hpp>
#include <flowgraph/language/flow.hpp>
#include <flowgraph/language/state.hpp>

namespace flowgraph {

enum class phase : bool { inference, training };

namespace detail {

// What the first arguments of a layer are: a tensor or none, then a name, ...
template <class... X>
inline constexpr bool tensor_and_name = false;
template <class A, class B, class... X>
inline constexpr bool tensor_and_name<A, B, X...> = any_tensor<A> && text_argument<B>;
template <class... X>
inline constexpr bool name_alone = false;
template <class A, class... X>
inline constexpr bool name_alone<A, X...> = text_argument<A> && !(any_tensor<X> || ...);
template <class... X>
inline constexpr bool layer_and_phase = false;
template <class A, class B, class... X>
inline constexpr bool layer_and_phase<A, B, X...> = text_argument<A> && std::is_same_v<B, phase>;
template <class A, class B, class C, class... X>
  requires any_tensor<A>
inline constexpr bool layer_and_phase<A, B, C, X...> = text_argument<B> && std::is_same_v<C, phase>;
template <class... X>
inline constexpr bool rate_and_phase = false;
template <class A, class B, class... X>
inline constexpr bool rate_and_phase<A, B, X...> = std::is_convertible_v<A, double> && std::is_same_v<B, phase>;
template <class A, class B, class C, class... X>
  requires any_tensor<A>
inline constexpr bool rate_and_phase<A, B, C, X...> = std::is_convertible_v<B, double> && std::is_same_v<C, phase>;
template <class... X>
inline constexpr bool attention_arguments = false;
template <class A, class B, class C, class... X>
inline constexpr bool attention_arguments<A, B, C, X...> = any_tensor<A> && any_tensor<B> && text_argument<C>;

template <class... X>
concept no_layer_arguments = !tensor_and_name<X...> && !name_alone<X...>;
template <class... X>
concept no_tensor_and_name = !tensor_and_name<X...>;
template <class... X>
concept no_layer_and_phase = !layer_and_phase<X...>;
template <class... X>
concept no_rate_and_phase = !rate_and_phase<X...>;
template <class... X>
concept no_attention_arguments = !attention_arguments<X...>;

}  // namespace detail

namespace layers {

namespace detail {

using namespace flowgraph::detail;

// Nodes made while it lives are named and scoped below the layer.
class layer_scope {
 public:
  constexpr layer_scope(graph_data& g, std::string_view name, caller line)
      : graph(g),
        where(line),
        name_(name),
        outer_(g.scope),
        noted_(g.noted_updates.size()) {
    g.where = line;
    enter_scope(g, name);
  }
  layer_scope(const layer_scope&) = delete;
  layer_scope& operator=(const layer_scope&) = delete;
  constexpr ~layer_scope() {
    graph.scope = outer_;
    while (graph.noted_updates.size() > noted_) graph.noted_updates.pop();  // whether they run is the layer's business
  }

  // The parameter of this name, made if it is not there.
  template <class T, auto... E>
  constexpr variable<T, canonical<E>()...> parameter(const char* text, const initial_value& initial = {},
                                                     training t = training::trainable) {
    const std::string_view name = text_view(text);
    if (!graph.shares_variables && graph.find_in_scope(name) >= 0) graph.fail(problem::layer_taken, name_);
    return add_variable<T, E...>(graph, name, initial, {}, t, where);
  }

  graph_data& graph;
  const caller where;

 private:
  const std::string_view name_;
  const int outer_, noted_;
};

template <any_tensor X>
constexpr auto apply_in_turn(const X& x) {
  return x;
}
template <any_tensor X, class First, class... Rest>
constexpr auto apply_in_turn(const X& x, const First& first, const Rest&... rest) {
  return apply_in_turn(first(x), rest...);
}

// Newton's method from above, for a small whole number: good to the last digit of a double.
constexpr double square_root(double n) {
  double x = n > 1 ? n : 1;
  for (double next = (x + n / x) / 2; next < x; next = (x + n / x) / 2) x = next;
  return x;
}

// The last extent of T, which a layer's parameters take over and which must be a number.
template <any_tensor T>
constexpr int units_of() {
  if constexpr (rank_v<T> == 0) {
    mistake<problem::operand_rank, tensor_t<T>>();
    return 1;
  } else {
    constexpr std::int64_t n = tensor_t<T>::shape.number[rank_v<T> - 1];
    if constexpr (n < 0) mistake<problem::needs_number, tensor_t<T>>();
    return static_cast<int>(n < 0 ? 1 : n);
  }
}

}  // namespace detail

struct dense_options {
  bool bias = true;
  initial_value weights = init::glorot_uniform();
};

// x w + b along the last axis: [..., n] -> [..., Units].
template <int Units, any_tensor X>
constexpr auto dense(const X& x, std::string_view name, const dense_options& o = {}, caller where = {}) {
  detail::layer_scope layer(*x.graph, name, where);
  using T = element_t<X>;
  const auto y = matmul(x, layer.parameter<T, detail::units_of<X>(), Units>("w", o.weights), layer.where);
  return o.bias ? bias_add(y, layer.parameter<T, Units>("b"), layer.where) : y;
}

struct conv_options {
  bool bias = true;
  initial_value filters = init::he_normal();
};

// Filters of Height x Width: conv2d<64, 3, 3, fg::conv{.padding = fg::same}>(images, "conv1").
template <int Channels, int Height, int Width, conv Options = conv{}, any_tensor X>
constexpr auto conv2d(const X& images, std::string_view name, const conv_options& o = {}, caller where = {}) {
  static_assert(rank_v<X> == 4, "conv2d: images must have four axes");
  detail::layer_scope layer(*images.graph, name, where);
  using T = element_t<X>;
  constexpr int axis = Options.layout == nhwc ? 3 : 1;
  constexpr auto in = extent_v<axis, X> / static_cast<int>(Options.groups);
  const auto w = layer.parameter<T, Height, Width, in, Channels>("filters", o.filters);
  const auto y = flowgraph::conv2d<Options>(images, w, layer.where);
  return o.bias ? bias_add<Options.layout>(y, layer.parameter<T, Channels>("b"), layer.where) : y;
}

struct norm_options {
  double epsilon = 1e-3;
  double momentum = 0.99;  // of the running statistics: how much of them stays with each step
};

// By the batch's statistics in training, which also moves the running ones; by those in inference.
template <image_layout Layout = nhwc, any_tensor X>
constexpr auto batch_norm(const X& x, std::string_view name, phase p, const norm_options& o = {}, caller where = {}) {
  detail::layer_scope layer(*x.graph, name, where);
  using T = element_t<X>;
  constexpr auto n = extent_v<flowgraph::detail::channels_of<Layout, X>(), X>;
  const auto scale = layer.parameter<T, n>("scale", init::ones());
  const auto offset = layer.parameter<T, n>("offset");
  const auto mean = layer.parameter<T, n>("mean", init::zeros(), training::frozen);
  const auto variance = layer.parameter<T, n>("variance", init::ones(), training::frozen);
  if (p == phase::inference)
    return flowgraph::batch_norm<Layout>(x, scale, offset, mean, variance, o.epsilon, layer.where);
  const auto batch = flowgraph::batch_norm<Layout>(x, scale, offset, o.epsilon, layer.where);
  const double share = 1 - o.momentum;
  layer.graph.push_control(
      assign_sub(mean, mul(sub(mean, batch.mean, layer.where), share, layer.where), layer.where).id);
  layer.graph.push_control(
      assign_sub(variance, mul(sub(variance, batch.variance, layer.where), share, layer.where), layer.where).id);
  const auto y = identity(batch.y, layer.where);  // whoever computes it moves the statistics
  layer.graph.pop_controls(2);
  return y;
}

// Each row by its own statistics, over the last axis.
template <any_tensor X>
constexpr auto layer_norm(const X& x, std::string_view name, double epsilon = 1e-5, caller where = {}) {
  detail::layer_scope layer(*x.graph, name, where);
  using T = element_t<X>;
  constexpr int n = detail::units_of<X>();
  return flowgraph::layer_norm(x, layer.parameter<T, n>("scale", init::ones()), layer.parameter<T, n>("offset"),
                               epsilon, layer.where);
}

// In training as flowgraph::dropout, in inference nothing.
template <any_tensor X>
constexpr auto dropout(const X& x, double rate, phase p, caller where = {}) {
  return p == phase::training ? flowgraph::dropout(x, rate, where) : flowgraph::detail::as_tensor(x);
}

// Rows of a table [Rows, Units] of its own.
template <int Rows, int Units, class T = float, any_tensor I>
constexpr auto embedding(const I& indices, std::string_view name, const initial_value& initial = init::normal(0, 0.05),
                         caller where = {}) {
  detail::layer_scope layer(*indices.graph, name, where);
  return embedding_lookup(layer.parameter<T, Rows, Units>("table", initial), indices, layer.where);
}

// Several heads of softmax(q k^T / sqrt(n)) v, with q from x and k, v from the memory that it looks at; x itself for
// self-attention. [batch, time, units], [batch, memory time, units] -> [batch, time, units]. mask: added to the scores,
// of a shape that broadcasts to [batch, heads, time, memory time]; large negative numbers hide.
template <int Heads, any_tensor X, any_tensor M, class Mask = flowgraph::detail::absent>
constexpr auto multi_head_attention(const X& x, const M& memory, std::string_view name, const Mask& mask = {},
                                    caller where = {}) {
  static_assert(rank_v<X> == 3 && rank_v<M> == 3, "multi_head_attention: operands must be [batch, time, units]");
  constexpr int units = detail::units_of<X>();
  static_assert(units % Heads == 0, "multi_head_attention: the heads must divide the units");
  detail::layer_scope layer(*x.graph, name, where);
  const auto heads = [&]<class Y>(const Y& y) {  // [batch, heads, time, units of a head]
    return transpose<0, 2, 1, 3>(reshape<extent_v<0, Y>, extent_v<1, Y>, Heads, units / Heads>(y, layer.where),
                                 layer.where);
  };
  const auto q = heads(dense<units>(x, "query", {}, layer.where));
  const auto k = heads(dense<units>(memory, "key", {}, layer.where));
  const auto v = heads(dense<units>(memory, "value", {}, layer.where));
  const auto scores = div(matmul<transpose_b>(q, k, layer.where), detail::square_root(units / Heads), layer.where);
  const auto weights = [&] {
    if constexpr (any_tensor<Mask>)
      return softmax(add(scores, mask, layer.where), layer.where);
    else
      return softmax(scores, layer.where);
  }();
  const auto joined = transpose<0, 2, 1, 3>(matmul(weights, v, layer.where), layer.where);
  return dense<units>(reshape<extent_v<0, X>, extent_v<1, X>, units>(joined, layer.where), "out", {}, layer.where);
}

// The same as functions of the tensor to come.
template <int Units>
constexpr auto dense(std::string_view name, const dense_options& o = {}, caller where = {}) {
  return [=](const auto& x) { return dense<Units>(x, name, o, where); };
}
template <int Channels, int Height, int Width, conv Options = conv{}>
constexpr auto conv2d(std::string_view name, const conv_options& o = {}, caller where = {}) {
  return [=](const auto& x) { return conv2d<Channels, Height, Width, Options>(x, name, o, where); };
}
template <image_layout Layout = nhwc>
constexpr auto batch_norm(std::string_view name, phase p, const norm_options& o = {}, caller where = {}) {
  return [=](const auto& x) { return batch_norm<Layout>(x, name, p, o, where); };
}
constexpr auto layer_norm(std::string_view name, double epsilon = 1e-5, caller where = {}) {
  return [=](const auto& x) { return layer_norm(x, name, epsilon, where); };
}
constexpr auto dropout(double rate, phase p, caller where = {}) {
  return [=](const auto& x) { return dropout(x, rate, p, where); };
}

}  // namespace layers

namespace detail {
template <class... X>
concept no_dense_arguments =
    no_layer_arguments<X...> || (tensor_and_name<X...> && third_is_no<layers::dense_options, X...>) ||
    (name_alone<X...> && second_is_no<layers::dense_options, X...>);
}  // namespace detail

namespace layers {

// Calls that fit none of these.
#define FLOWGRAPH_MISUSE_OF_LAYER(name, most, stated, concept_of_arguments, sentence)                                \
  FLOWGRAPH_MISUSE_BEYOND(name, most, (sizeof...(Stated) < stated || flowgraph::detail::concept_of_arguments<X...>), \
                          sentence)
FLOWGRAPH_MISUSE_OF_LAYER(
    dense, 4, 1, no_dense_arguments,
    "layers::dense takes its units as a template argument, a tensor and a name, as in dense<32>(x, \"hidden\")")
FLOWGRAPH_MISUSE_OF_LAYER(
    conv2d, 4, 3, no_layer_arguments,
    "layers::conv2d takes channels, height and width as template arguments, a tensor and a name, as in conv2d<64, 3, 3>(images, \"conv1\")")
FLOWGRAPH_MISUSE_OF_LAYER(
    batch_norm, 5, 0, no_layer_and_phase,
    "layers::batch_norm takes a tensor, a name and an fg::phase, as in batch_norm(x, \"norm\", fg::phase::training)")
FLOWGRAPH_MISUSE_OF_LAYER(layer_norm, 4, 0, no_layer_arguments,
                          "layers::layer_norm takes a tensor and a name, as in layer_norm(x, \"norm\")")
FLOWGRAPH_MISUSE_OF_LAYER(
    dropout, 4, 0, no_rate_and_phase,
    "layers::dropout takes a tensor, the share that becomes 0 and an fg::phase, as in dropout(x, 0.5, fg::phase::training)")
FLOWGRAPH_MISUSE_OF_LAYER(
    embedding, 4, 2, no_tensor_and_name,
    "layers::embedding takes rows and units as template arguments, a tensor of indices and a name, as in embedding<10000, 64>(words, \"words\")")
FLOWGRAPH_MISUSE_OF_LAYER(
    multi_head_attention, 5, 1, no_attention_arguments,
    "layers::multi_head_attention takes its heads as a template argument, two tensors and a name, as in multi_head_attention<8>(x, x, \"attention\")")
#undef FLOWGRAPH_MISUSE_OF_LAYER

// One after another: sequential(dense<64>("a"), [](auto x) { return relu(x); }, dense<10>("b"))(x).
template <class... Layers>
constexpr auto sequential(const Layers&... layers) {
  return [=](const auto& x) { return detail::apply_in_turn(x, layers...); };
}
// x + f(x)
template <class Layer>
constexpr auto residual(const Layer& layer) {
  return [=](const auto& x) { return add(x, layer(x)); };
}

}  // namespace layers
}  // namespace flowgraph
