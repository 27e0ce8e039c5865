// Array ops while a graph is built: result types, named and derived extents, and gradients as graphs.
#include <doctest/doctest.h>

#include <array>
#include <tuple>
#include <type_traits>

#include <flowgraph/functions/concat.hpp>
#include <flowgraph/functions/fill.hpp>
#include <flowgraph/functions/slice.hpp>
#include <flowgraph/functions/sort.hpp>
#include <flowgraph/language/define.hpp>
#include <flowgraph/language/gradients.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim steps{"time"};

// A tensor's type, derived extents in their one spelling.
template <class T, auto... E>
using typed = fg::tensor<T, fg::detail::canonical<E>()...>;

template <class Expected, class T>
constexpr bool is(const T&) {
  return std::is_same_v<Expected, T>;
}

constexpr bool making() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 4>("x");
  auto labels = g.placeholder<int, batch, steps>("labels");
  auto v = g.variable<double, 3>("v");
  return is<typed<float, 2, 3>>(fg::zeros<float, 2, 3>(g)) && is<typed<int>>(fg::ones<int>(g)) &&
         is<typed<double, batch>>(fg::fill<double, batch>(g, 2.5)) && is<typed<float, batch, 4>>(zeros_like(x)) &&
         is<typed<double, 3>>(ones_like(v)) && is<typed<int, 5>>(fg::range<int, 0, 10, 2>(g)) &&
         is<typed<std::int64_t, 5>>(fg::range<std::int64_t, 5, -4, -2>(g)) &&
         is<typed<int, 3>>(fg::range<int, 2, 5>(g)) && is<typed<int, 7>>(fg::range<int, 7>(g)) &&
         is<typed<std::int64_t, batch>>(fg::range<std::int64_t, batch>(g)) &&
         is<typed<float, 4>>(fg::range<float, 4>(g, 0, 0.25)) &&
         is<typed<float, batch, steps, 10>>(fg::one_hot<10>(labels)) &&
         is<typed<double, batch, steps, 3>>(fg::one_hot<3, double>(labels, 0.9, 0.1)) &&
         is<typed<std::int64_t, 2>>(shape(x)) && is<typed<std::int64_t>>(rank(x)) && is<typed<std::int64_t>>(size(x)) &&
         fg::ref(size(x)).is(fg::op_def_of<fg::ops::size>) && fg::ops::is_constant(fg::ref(size(v)), 3) &&
         fg::ops::is_constant(fg::ref(rank(x)), 2);
}
static_assert(making());

constexpr bool shapes() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 4, 8>("x");
  auto thin = g.placeholder<float, 1, batch, 1>("thin");
  auto row = g.placeholder<float, 4>("row");
  return is<typed<float, batch, 32>>(fg::reshape<batch, 32>(x)) &&
         is<typed<float, 2 * batch, 16>>(fg::reshape<2 * batch, 16>(x)) &&
         is<typed<float, batch, 32>>(fg::reshape<batch, -1>(x)) &&
         is<typed<float, batch, 32>>(fg::reshape<-1, 32>(x)) && is<typed<float, 4 * batch, 8>>(fg::reshape<-1, 8>(x)) &&
         is<typed<float, 32 * batch>>(fg::reshape<-1>(x)) &&
         is<typed<float, 2, 2 * batch, 8>>(fg::reshape<2, -1, 8>(x)) &&
         is<typed<float, 32 * batch>>(fg::flatten<0>(x)) && is<typed<float, batch, 32>>(flatten(x)) &&
         is<typed<float, batch, 4, 8>>(fg::flatten<2>(x)) && is<typed<float, batch, 4, 8, 1>>(fg::expand_dims<-1>(x)) &&
         is<typed<float, 1, batch, 4, 8>>(fg::expand_dims<0>(x)) &&
         is<typed<float, batch, 1, 4, 8>>(fg::expand_dims<-3>(x)) &&
         is<typed<float, batch>>(fg::squeeze<0, -1>(thin)) && is<typed<float, 1, batch>>(fg::squeeze<2>(thin)) &&
         is<typed<float, batch, 3, 4>>(fg::broadcast_to<batch, 3, 4>(row)) &&
         g.data().first_fault.why == fg::problem::none;
}
static_assert(shapes());

constexpr bool joining() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 4>("x");
  auto y = g.placeholder<float, steps, 4>("y");
  auto z = g.placeholder<float, batch, 9>("z");
  auto wide = g.placeholder<float, batch, 20>("wide");
  const auto parts = fg::split<1, 3>(z);
  const auto [a, b] = fg::split_sizes<1, 3, 1>(x);
  const auto many = fg::split<1, 20>(wide);
  const auto rows = fg::unstack<1>(x);
  return is<typed<float, batch + steps, 4>>(fg::concat<0>(x, y)) &&
         is<typed<float, 2 * batch + steps, 4>>(fg::concat<0>(x, y, x)) &&
         is<typed<float, batch, 17>>(fg::concat<-1>(x, z, x)) && is<typed<float, batch, 4>>(fg::concat<1>(x)) &&
         is<typed<float, 3, batch, 4>>(fg::stack<0>(x, x, x)) && is<typed<float, batch, 4, 2>>(fg::stack<-1>(x, x)) &&
         is<std::array<typed<float, batch, 3>, 3>>(parts) && is<typed<float, batch, 3>>(a) &&
         is<typed<float, batch, 1>>(b) && is<std::array<typed<float, batch, 1>, 20>>(many) &&
         is<std::array<typed<float, batch>, 4>>(rows);
}
static_assert(joining());

constexpr bool cutting() {
  using fg::by, fg::edge, fg::from, fg::to;
  fg::graph g;
  auto x = g.placeholder<float, batch, steps>("x");
  auto m = g.placeholder<float, 4, 5>("m");
  return is<typed<float, 2, 3>>(fg::slice<from<1, 0>, 2, 3>(m)) &&
         is<typed<float, batch, steps - 1>>(fg::slice<from<0, 1>, batch, steps - 1>(x)) &&
         is<typed<float, batch, 1>>(fg::slice<from<0, 0>, batch, 1>(x)) &&
         is<typed<float, 2, 3>>(fg::strided_slice<from<1, 0>, to<4, 5>, by<2, 2>>(m)) &&
         is<typed<float, 4, 5>>(fg::strided_slice<from<edge, -1>, to<edge, -99>, by<-1, -1>>(m)) &&
         is<typed<float, batch, (steps + 1) / 2>>(fg::strided_slice<from<edge, 0>, to<edge, edge>, by<1, 2>>(x)) &&
         is<typed<float, batch, steps - 1>>(fg::strided_slice<from<edge, 1>, to<edge, edge>, by<1, 1>>(x)) &&
         is<typed<float, batch, steps - 3>>(fg::strided_slice<from<0, 1>, to<edge, -2>, by<1, 1>>(x)) &&
         is<typed<float, batch, steps>>(fg::strided_slice<from<edge, edge>, to<edge, edge>, by<-1, -1>>(x)) &&
         is<typed<float, batch, 1>>(fg::strided_slice<from<edge, -1>, to<edge, edge>, by<1, 1>>(x)) &&
         is<typed<float, batch, 3>>(fg::strided_slice<from<edge, 0>, to<edge, 3>, by<1, 1>>(x)) &&
         is<typed<float, batch + 3, steps>>(fg::pad<1, 2, 0, 0>(x)) &&
         is<typed<float, 4, 6>>(fg::pad<0, 0, 0, 1>(m, -1.5)) &&
         is<typed<float, 3 * batch, steps>>(fg::tile<3, 1>(x)) && is<typed<float, batch, steps>>(fg::reverse<0, -1>(x));
}
static_assert(cutting());

constexpr bool picking() {
  fg::graph g;
  auto x = g.placeholder<float, batch, 7>("x");
  auto cube = g.placeholder<fg::half, 5, 6, 7>("cube");
  auto i = g.placeholder<int, steps, 2>("i");
  auto k = g.placeholder<std::int64_t, batch, 3>("k");
  auto u = g.placeholder<float, steps, 4>("u");
  auto truth = g.placeholder<bool, batch, 1>("truth");
  const auto [values, positions] = fg::top_k<3>(x);
  return is<typed<float, batch, steps, 2>>(fg::gather<1>(x, i)) &&
         is<typed<fg::half, steps, 2, 6, 7>>(gather(cube, i)) && is<typed<fg::half, steps, 7>>(gather_nd(cube, i)) &&
         is<typed<float, 8, 9, 4>>(fg::scatter_nd<8, 9, 4>(i, u)) &&
         is<typed<float, batch, 3>>(take_along_axis(x, k)) && is<typed<float, batch, 7>>(shuffle(x)) &&
         is<typed<float, batch, 7>>(where(truth, x, 0)) &&
         is<typed<std::int64_t, batch, 7>>(argsort(x, fg::descending)) && is<typed<float, batch, 7>>(fg::sort<0>(x)) &&
         is<typed<float, batch, 3>>(values) && is<typed<std::int64_t, batch, 3>>(positions) &&
         is<typed<std::int64_t, batch>>(fg::argmax<1>(x)) && is<typed<std::int64_t, 5, 7>>(fg::argmin<-2>(cube)) &&
         is<typed<float, batch, 7>>(fg::cumsum<1>(x, {.reverse = true}));
}
static_assert(picking());

// A scalar of every kind of element move: differentiated, and differentiated again, without a fault. The gradients
// are typed by gradients(); here it counts that no rule complains about the shapes they are made of.
template <class F>
constexpr bool twice_differentiable(const F& f) {
  fg::graph g;
  auto x = g.placeholder<float, batch, 8>("x");
  auto dx = gradients(reduce_sum(square(f(g, x))), x);
  auto ddx = gradients(reduce_sum(square(dx)), x);
  return g.data().first_fault.why == fg::problem::none && !fg::ref(ddx).is(fg::op_def_of<fg::ops::constant>);
}

constexpr bool gradients_exist() {
  using fg::by, fg::edge, fg::from, fg::to;
  const auto index = [](fg::graph& g) { return g.constant<int, 3>({2, 0, 2}); };
  return twice_differentiable([](auto&, auto x) { return fg::reshape<8 * batch>(x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::broadcast_to<3, batch, 8>(x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::concat<0>(x, 2 * x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::concat<1>(x, 2 * x, x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::stack<1>(x, x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::split<1, 2>(x)[1]; }) &&
         twice_differentiable([](auto&, auto x) { return fg::unstack<1>(x)[7]; }) &&
         twice_differentiable([](auto&, auto x) { return fg::slice<from<0, 2>, batch, 3>(x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::slice<from<1, 0>, 2, 8>(x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::strided_slice<from<0, 7>, to<edge, 1>, by<2, -2>>(x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::pad<1, 1, 0, 2>(x, 3); }) &&
         twice_differentiable([](auto&, auto x) { return fg::tile<2, 3>(x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::reverse<0>(x); }) &&
         twice_differentiable([&](auto& g, auto x) { return fg::gather<1>(x, index(g)); }) &&
         twice_differentiable([&](auto& g, auto x) { return gather_nd(x, fg::expand_dims<1>(index(g))); }) &&
         twice_differentiable([](auto&, auto x) { return fg::sort<1>(x); }) &&
         twice_differentiable([](auto&, auto x) { return std::get<0>(fg::top_k<2>(x)); }) &&
         twice_differentiable([](auto&, auto x) { return shuffle(x); }) &&
         twice_differentiable([](auto&, auto x) { return fg::cumsum<0>(x, {.exclusive = true}); }) &&
         twice_differentiable([](auto&, auto x) { return where(x > 0, x, square(x)); });
}
static_assert(gradients_exist());

// Twenty parts of one tensor come back by eight joins, not by twenty padded sums.
constexpr int joins_of_a_split() {
  fg::graph g;
  auto x = g.placeholder<float, 20>("x");
  const auto parts = fg::split<0, 20>(x);
  auto sum = reduce_sum(parts[0] * parts[19]);
  for (std::size_t i = 1; i < 20; ++i) sum = sum + reduce_sum(parts[i] * static_cast<double>(i));
  const int before = g.data().size();
  (void)gradients(sum, x);
  int joins = 0;
  for (int i = before; i < g.data().size(); ++i) joins += g.data().nodes[i].op->id == fg::ops::concat::id;
  return joins;
}
static_assert(joins_of_a_split() == 8);

// x[begin:end:stride] of Python for all small cases.
constexpr bool walks_like_python() {
  for (int n = 0; n < 5; ++n)
    for (int begin = -6; begin < 7; ++begin)
      for (int end = -6; end < 7; ++end)
        for (const int stride : {-3, -1, 1, 2}) {
          const fg::ops::walk w = fg::ops::resolve_walk(n, begin, end, stride);
          int count = 0;
          int i = begin < 0 ? begin + n : begin;
          const int last = end < 0 ? (end + n < 0 ? -1 : end + n) : end;
          if (stride > 0)
            for (i = i < 0 ? 0 : i; i < n && i < last; i += stride) ++count;
          else
            for (i = i >= n ? n - 1 : i; i >= 0 && i > last; i += stride) ++count;
          if (w.count != count) return false;
          if (count > 0 && (w.first < 0 || w.first >= n || w.first + (count - 1) * stride < 0 ||
                            w.first + (count - 1) * stride >= n))
            return false;
        }
  return true;
}
static_assert(walks_like_python());

}  // namespace

TEST_CASE("shapes at run time are the shapes that types have") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 6>("x");
  const auto parts = fg::split<1, 3>(x);
  CHECK(fg::ref(parts[2]).shape() == fg::extents{2, {fg::ref(x).shape()[0], 2}});
  CHECK(fg::ref(parts[2]).input(0).get().outputs == 3);
  CHECK_THROWS_AS(fg::random_uniform<float>(g, 1, 0), fg::graph_error);
}
