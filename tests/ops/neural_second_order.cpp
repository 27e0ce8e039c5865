// Gradients of gradients against central differences: the families of convolution, pooling, softmax and embedding are
// closed under differentiation, and right.
#include <doctest/doctest.h>

#include <flowgraph/functions/neural.hpp>
#include <flowgraph/language/gradients.hpp>
#include <support/op_rows.hpp>

namespace fg = flowgraph;
using fg::testing::golden_array;
using fg::testing::golden_case;

namespace {

template <int... E>
using f64 = fg::tensor<double, E...>;
template <int... E>
using i64 = fg::tensor<std::int64_t, E...>;

// Between -1 and 1, no two of them near each other, so that a window's maximum is clear.
template <class T, auto... E>
golden_array numbers(std::type_identity<fg::tensor<T, E...>>, double seed) {
  golden_array a{"f64", {E...}, std::vector<double>(static_cast<std::size_t>((1 * ... * E)))};
  double x = seed;
  for (double& v : a.values) {
    x += 0.6180339887498949;
    x -= static_cast<double>(static_cast<int>(x));
    v = 2 * x - 1;
    if constexpr (std::is_integral_v<T>)
      v = static_cast<double>(static_cast<int>(3 * x));  // labels and indices below 3
  }
  return a;
}

// f is differentiated by its first inputs, as many as there are in Floating.
template <int Floating, class... In, class F>
void check(const std::string& name, const F& f) {
  fg::graph g;
  const fg::testing::detail::built_op b = fg::testing::detail::build<In...>(g, f);
  golden_case c;
  c.name = name;
  double seed = 0.1;
  (c.in.push_back(numbers(std::type_identity<In>{}, seed += 0.17)), ...);
  const fg::extents y = g.data().shape_of(b.outputs[0]);
  golden_array weight{"f64", {}, {}};
  std::size_t size = 1;
  for (int i = 0; i < y.rank; ++i) {
    weight.dims.push_back(y[i]);
    size *= static_cast<std::size_t>(y[i]);
  }
  for (std::size_t i = 0; i < size; ++i) weight.values.push_back(0.5 + 0.1 * static_cast<double>(i % 7));
  c.weight = weight;
  for (int i = 0; i < Floating; ++i) c.grads.emplace_back(i, c.in[static_cast<std::size_t>(i)]);
  fg::testing::detail::check_differences(c, g.data(), b);
}

constexpr fg::conv strided{.stride = {2, 1}, .dilation = {1, 2}, .padding = fg::same, .groups = 2};
constexpr fg::pool overlapping{.window = {3, 2}, .stride = {2, 1}, .padding = fg::same};

}  // namespace

TEST_CASE("gradients of gradients") {
  const auto convolved = [](auto x, auto w) { return reduce_sum(square(fg::conv2d<strided>(x, w))); };
  using image = f64<1, 4, 5, 2>;
  using filter = f64<2, 3, 1, 4>;
  check<2, image, filter>("conv2d by the image", [&](auto x, auto w) { return gradients(convolved(x, w), x); });
  check<2, image, filter>("conv2d by the filter", [&](auto x, auto w) { return gradients(convolved(x, w), w); });
  check<1, image>("max_pool", [](auto x) { return gradients(reduce_sum(square(fg::max_pool<overlapping>(x))), x); });
  check<1, image>("avg_pool", [](auto x) { return gradients(reduce_sum(square(fg::avg_pool<overlapping>(x))), x); });
  check<1, image>("local_response_normalization",
                  [](auto x) { return gradients(reduce_sum(square(local_response_normalization(x, 1))), x); });
  check<1, f64<4, 3>>("softmax", [](auto x) { return gradients(reduce_sum(square(softmax(x))), x); });
  check<1, f64<4, 3>>("log_softmax", [](auto x) { return gradients(reduce_sum(square(fg::log_softmax<0>(x))), x); });
  check<1, f64<4, 3>, i64<4>>("sparse cross-entropy", [](auto x, auto y) {
    return gradients(reduce_sum(square(softmax_cross_entropy_with_logits(x, y))), x);
  });
  check<3, f64<4, 3>, f64<3>, f64<3>>("batch_norm", [](auto x, auto scale, auto offset) {
    return gradients(reduce_sum(square(batch_norm(x, scale, offset).y)), x);
  });
  check<3, f64<4, 3>, f64<3>, f64<3>>("layer_norm", [](auto x, auto scale, auto offset) {
    return gradients(reduce_sum(square(layer_norm(x, scale, offset))), x);
  });
}

TEST_CASE("gradients of an embedding that is looked up many times") {
  check<1, f64<3, 2>, i64<4>, i64<2, 3>>("joined", [](auto table, auto i, auto j) {
    auto loss = reduce_sum(square(embedding_lookup(table, i)));
    for (int k = 0; k < 10; ++k) loss = loss + reduce_sum(square(embedding_lookup(table, j) * 0.5));
    return gradients(loss, table);
  });
  check<1, f64<3, 2>, i64<4>>("beside a dense gradient", [](auto table, auto i) {
    return gradients(reduce_sum(square(embedding_lookup(table, i))) + l2_loss(square(table)), table);
  });
}
