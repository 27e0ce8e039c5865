#include <flowgraph/define.hpp>

#include "rows.hpp"

namespace flowgraph::testing {

namespace {

constexpr dim batch{"batch"};
constexpr dim steps{"steps"};
const std::vector<binding> two_by_three{batch(2), steps(3)};

using matrix = tensor<float, batch, 6>;
using sequence = tensor<float, batch, steps, 4>;
using ids = tensor<std::int64_t, batch, 3>;

}  // namespace

void array_rows() {
  row<matrix>("passed_on", [](auto x) { return dropout(stop_gradient(identity(x)), 0.0) * 2.0f; }, {.imports = true});
  row<matrix>("constants", [](auto x) { return x + ones_like(x) * 3.0f; });
  row<matrix>("print",
              [](auto x) { return print(check_numerics(x + 0.0f, "in tests of ONNX"), "seen in tests of ONNX: "); });
  row("literal", [](graph& g) { return g.constant<float, 2, 3>({1, 2, 3, 4, 5, 6}) + range<float, 3>(g, 0.5, 0.25); });
  row<sequence>("range_of_names",
                [](auto x) {
                  const auto i = detail::source_node<ops::range, tensor<std::int64_t, steps>>(caller{}, *x.graph,
                                                                                              ops::range::attrs{5, -2});
                  return std::tuple(i, x + expand_dims<1>(cast<float>(i)));
                },
                {.extents = two_by_three, .imports = false});
  row<ids>("one_hot", [](auto i) { return one_hot<5>(i, 2.0, -1.0); }, {.low = -2, .high = 7});
  row<sequence>("shape", [](auto x) { return shape(x); }, {.extents = two_by_three});
  row<sequence>("size", [](auto x) { return std::tuple(reduce_mean<0, 1>(x), reduce_mean<0, 1, 2>(x)); },
                {.extents = two_by_three});

  row<matrix>("reshape", [](auto x) { return std::tuple(reshape<batch, 2, 3>(x), reshape<3, batch, 2>(x)); });
  row<sequence>("reshape_names",
                [](auto x) { return std::tuple(reshape<batch * steps, 4>(x), reshape<4, steps, batch>(x)); },
                {.extents = two_by_three});
  row<sequence>("expand_squeeze", [](auto x) { return squeeze<2>(expand_dims<2>(x)); }, {.extents = two_by_three});
  row<matrix, tensor<float, 6>>("broadcast_to", [](auto x, auto y) { return x + broadcast_to<batch, 6>(y); });
  row<sequence>("transpose", [](auto x) { return transpose<2, 0, 1>(transpose<1, 0, 2>(x)); },
                {.extents = two_by_three});
  row<sequence, sequence>("concat", [](auto x, auto y) { return concat<1>(x, y, x); }, {.extents = two_by_three});
  row<matrix>("split", [](auto x) { return split<1, 3>(x); });
  row<sequence>("slice", [](auto x) { return slice<from<0, 1, 2>, batch, steps - 1, 2>(x); },
                {.extents = two_by_three});
  row<matrix>("strided_slice", [](auto x) {
    return std::tuple(strided_slice<from<edge, 5>, to<edge, 0>, by<1, -2>>(x),
                      strided_slice<from<0, -3>, to<1, edge>, by<1, 1>>(x));
  });
  row<sequence>("reverse", [](auto x) { return reverse<1, 2>(x); }, {.extents = two_by_three});
  row<sequence>("pad", [](auto x) { return pad<0, 0, 1, 2, 0, 1>(x, 1.5f); }, {.extents = two_by_three});
  row<matrix>("tile", [](auto x) { return tile<2, 3>(x); });

  row<matrix, ids>("gather", [](auto x, auto i) { return gather<1>(x, i); }, {.low = 0, .high = 5.99});
  row<tensor<float, 7, 3>, ids>("embedding_lookup", [](auto t, auto i) { return embedding_lookup(t, i); },
                                {.low = 0, .high = 6.99});
  row<tensor<float, 4, 4, 2>, tensor<std::int32_t, batch, 2>>(
      "gather_nd", [](auto x, auto i) { return gather_nd(x, i); }, {.low = 0, .high = 3.99});
  row<tensor<std::int64_t, 5, 1>, tensor<float, 5, 3>>(
      "scatter_nd", [](auto i, auto u) { return scatter_nd<4, 3>(i, u); }, {.low = 0, .high = 3.99});
  row<tensor<float, 3, 4>, tensor<std::int64_t, 3, 2>>(
      "take_along_axis", [](auto x, auto i) { return take_along_axis<1>(x, i); }, {.low = 0, .high = 3.99});
  row<tensor<float, 4, 3>, tensor<float, 2, 3>>("rows", [](auto x, auto r) {
    graph_data& g = *x.graph;
    const std::int64_t at[] = {3, 1};
    const ref i{&g, g.append(op_def_of<ops::literal>, g.intern_shape({1, {2}}), dtype::int64, nullptr, 0, at, 2)};
    const auto as = [&](ref y) { return tensor<float, 4, 3>{&g, y.id}; };
    return std::tuple(as(emit<ops::set_rows>(ref(x), i, ref(r))), as(emit<ops::add_rows>(ref(x), i, ref(r))));
  });
  row<matrix>("argsort", [](auto x) { return std::tuple(argsort<1>(x), argsort<0>(x, descending)); });
  row<matrix>("top_k", [](auto x) { return top_k<3>(x); });
  row<matrix>("argmax", [](auto x) { return std::tuple(argmax<1>(x), argmin<0>(x)); });
  row<matrix>("cumsum",
              [](auto x) { return std::tuple(cumsum<1>(x), cumsum<0>(x, {.exclusive = true, .reverse = true})); });

  using square_matrices = tensor<float, batch, 4, 4>;
  row<square_matrices>("band_part",
                       [](auto x) { return std::tuple(band_part(x, 1, 0), band_part(x, -1, 2), band_part(x, 0, -1)); });
  row<square_matrices>("diag", [](auto x) { return diag(diag_part(x)); });
  row<square_matrices>("determinant", [](auto x) { return matrix_determinant(x); }, {.tolerance = 1e-4});
}

}  // namespace flowgraph::testing
