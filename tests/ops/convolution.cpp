// Convolution and pooling: result types, derived extents, and that the families are closed under differentiation.
#include <flowgraph/functions/convolution.hpp>
#include <flowgraph/functions/pooling.hpp>
#include <flowgraph/functions/reduction.hpp>
#include <flowgraph/language/gradients.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim h{"h"};
constexpr fg::dim w{"w"};
constexpr fg::conv halving{.stride = {2, 2}, .padding = fg::same};
constexpr fg::conv wide{.dilation = {2, 3}, .padding = fg::padded(1, 1, 0, 2)};
constexpr fg::pool overlapping{.window = {3, 3}, .stride = {2, 2}, .padding = fg::same};

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

constexpr bool types() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 28, 27, 4>("x");
  auto k3 = g.variable<float, 3, 3, 4, 8>("k3");
  static_assert(same<decltype(conv2d(x, k3)), fg::tensor<float, batch, 26, 25, 8>>);
  static_assert(same<decltype(fg::conv2d<halving>(x, k3)), fg::tensor<float, batch, 14, 14, 8>>);
  static_assert(same<decltype(fg::conv2d<wide>(x, k3)), fg::tensor<float, batch, 26, 23, 8>>);

  auto grouped = g.variable<float, 1, 1, 2, 6>("grouped");
  static_assert(same<decltype(fg::conv2d<fg::conv{.groups = 2}>(x, grouped)), fg::tensor<float, batch, 28, 27, 6>>);
  auto each = g.variable<float, 3, 3, 4, 2>("each");
  static_assert(same<decltype(fg::depthwise_conv2d<halving>(x, each)), fg::tensor<float, batch, 14, 14, 8>>);

  auto back = g.variable<float, 3, 3, 2, 4>("back");
  static_assert(same<decltype(conv2d_transpose(x, back)), fg::tensor<float, batch, 30, 29, 2>>);
  static_assert(same<decltype(fg::conv2d_transpose<halving>(x, back)), fg::tensor<float, batch, 56, 54, 2>>);
  static_assert(same<decltype(fg::conv2d_transpose<halving, 55, 53>(x, back)), fg::tensor<float, batch, 55, 53, 2>>);

  static_assert(same<decltype(max_pool(x)), fg::tensor<float, batch, 14, 13, 4>>);
  static_assert(same<decltype(fg::avg_pool<overlapping>(x)), fg::tensor<float, batch, 14, 14, 4>>);
  static_assert(same<decltype(local_response_normalization(x)), decltype(x)>);

  auto bias = g.variable<float, 4>("bias");
  static_assert(same<decltype(bias_add(x, bias)), decltype(x)>);
  return true;
}
static_assert(types());

constexpr bool named_extents() {
  fg::graph g;
  auto x = g.placeholder<float, batch, h, w, 4>("x");
  auto k3 = g.variable<float, 3, 3, 4, 8>("k3");
  // Same padding and stride 1 keep the extents themselves; so does stated padding that makes up for the window.
  static_assert(same<decltype(fg::conv2d<fg::conv{.padding = fg::same}>(x, k3)), fg::tensor<float, batch, h, w, 8>>);
  static_assert(same<decltype(fg::conv2d<fg::conv{.padding = fg::padded(1, 1, 1, 1)}>(x, k3)),
                     fg::tensor<float, batch, h, w, 8>>);
  static_assert(same<decltype(conv2d(x, k3)), fg::tensor<float, batch, fg::dim{"h-2"}, fg::dim{"w-2"}, 8>>);
  static_assert(
      same<decltype(fg::conv2d<halving>(x, k3)), fg::tensor<float, batch, fg::dim{"(h+1)/2"}, fg::dim{"(w+1)/2"}, 8>>);
  static_assert(same<decltype(max_pool(x)), fg::tensor<float, batch, fg::dim{"(h)/2"}, fg::dim{"(w)/2"}, 4>>);
  // A transposed convolution leads back to where a convolution of the same options started.
  auto back = g.variable<float, 2, 2, 3, 4>("back");
  static_assert(same<decltype(fg::conv2d_transpose<halving>(x, back)),
                     fg::tensor<float, batch, fg::dim{"2*h"}, fg::dim{"2*w"}, 3>>);
  static_assert(same<decltype(fg::conv2d_transpose<fg::conv{.stride = {2, 2}}>(x, back)),
                     fg::tensor<float, batch, fg::dim{"2*h"}, fg::dim{"2*w"}, 3>>);
  return true;
}
static_assert(named_extents());

// Gradients three times over: every op on the way has one, and every shape is its operand's.
constexpr bool closed() {
  fg::graph g;
  auto x = g.placeholder<float, batch, h, w, 2>("x");
  auto k = g.variable<float, 3, 3, 2, 4>("k");
  auto y = fg::conv2d<halving>(x, k);
  auto z = fg::max_pool<overlapping>(y) + fg::avg_pool<overlapping>(y);
  auto loss = reduce_sum(local_response_normalization(z, 2) * z);
  auto [dx, dk] = gradients(loss, x, k);
  auto [dx2, dk2] = gradients(reduce_sum(dx * dx) + reduce_sum(dk * dk), x, k);
  auto [dx3, dk3] = gradients(reduce_sum(dx2 * dx2) + reduce_sum(dk2 * dk2), x, k);
  return fg::ref(dx3).shape() == fg::ref(x).shape() && fg::ref(dk3).shape() == fg::ref(k).shape() &&
         g.data().first_fault.why == fg::problem::none;
}
static_assert(closed());

}  // namespace
