#include <flowgraph/define.hpp>

#include "rows.hpp"

namespace flowgraph::testing {

namespace {

constexpr dim batch{"batch"};

using matrix = tensor<float, batch, 5>;
using vector = tensor<float, 5>;
using whole = tensor<std::int32_t, batch, 5>;
using truth = tensor<bool, batch, 5>;

#define FLOWGRAPH_ROW(name) row<matrix>(#name, [](auto x) { return name(x); })
#define FLOWGRAPH_PAIR(name) row<matrix, vector>(#name, [](auto x, auto y) { return name(x, y); })

}  // namespace

void elementwise_rows() {
  FLOWGRAPH_ROW(neg);
  FLOWGRAPH_ROW(abs);
  FLOWGRAPH_ROW(sign);
  FLOWGRAPH_ROW(square);
  FLOWGRAPH_ROW(reciprocal);
  FLOWGRAPH_ROW(exp);
  FLOWGRAPH_ROW(sin);
  FLOWGRAPH_ROW(cos);
  FLOWGRAPH_ROW(tan);
  FLOWGRAPH_ROW(tanh);
  FLOWGRAPH_ROW(sigmoid);
  FLOWGRAPH_ROW(softplus);
  FLOWGRAPH_ROW(erf);
  FLOWGRAPH_ROW(relu);
  FLOWGRAPH_ROW(floor);
  FLOWGRAPH_ROW(ceil);
  FLOWGRAPH_ROW(round);
  FLOWGRAPH_ROW(isnan);
  FLOWGRAPH_ROW(gelu);
  FLOWGRAPH_ROW(elu);
  FLOWGRAPH_ROW(silu);
  row<matrix>("log", [](auto x) { return log(x); }, {.low = 0.1, .high = 9});
  row<matrix>("sqrt", [](auto x) { return sqrt(x); }, {.low = 0, .high = 9});
  row<matrix>("rsqrt", [](auto x) { return rsqrt(x); }, {.low = 0.1, .high = 9});
  // Where a sum with 1 would lose the digits, they are there: 1e-6 is compared as 1.
  row<matrix>("expm1_small", [](auto x) { return expm1(x * 1e-6f) * 1e6f; });
  row<matrix>("expm1_large", [](auto x) { return expm1(x * 50.0f); });
  row<matrix>("log1p_small", [](auto x) { return log1p(x * 1e-6f) * 1e6f; });
  row<matrix>("log1p_large", [](auto x) { return log1p(x * 1e30f); }, {.low = 0, .high = 9});
  row<matrix>("isfinite", [](auto x) { return isfinite(1.0f / floor(x)); });

  FLOWGRAPH_PAIR(add);
  FLOWGRAPH_PAIR(sub);
  FLOWGRAPH_PAIR(mul);
  FLOWGRAPH_PAIR(div);
  FLOWGRAPH_PAIR(maximum);
  FLOWGRAPH_PAIR(minimum);
  FLOWGRAPH_PAIR(mod);
  FLOWGRAPH_PAIR(floordiv);
  row<matrix, vector>("pow", [](auto x, auto y) { return pow(x, y); }, {.low = 0.1, .high = 3});
  row<whole, whole>("floordiv_integers", [](auto x, auto y) { return floordiv(x * 2 + 1, y * 2 + 1); },
                    {.low = -9, .high = 9});
  row<whole, whole>("mod_integers", [](auto x, auto y) { return mod(x, y * 2 + 1); }, {.low = -9, .high = 9});
  row<whole, tensor<std::int32_t, 5>>("integers", [](auto x, auto y) { return maximum(x * y - abs(x), -y); },
                                      {.low = -9, .high = 9});
  row<tensor<double, batch, 5>>("doubles", [](auto x) { return exp(x) * 0.1 - x / 3.0; }, {.tolerance = 1e-12});
  row<tensor<half, batch, 5>>("halves", [](auto x) { return x * x + x; }, {.tolerance = 1e-2});

  row<whole, whole>("equal", [](auto x, auto y) { return equal(x, y); });
  row<whole, whole>("not_equal", [](auto x, auto y) { return not_equal(x, y); });
  FLOWGRAPH_PAIR(less);
  FLOWGRAPH_PAIR(less_equal);
  FLOWGRAPH_PAIR(greater);
  FLOWGRAPH_PAIR(greater_equal);
  row<truth, truth>("less_of_truths", [](auto x, auto y) { return less(x, y); });
  row<truth, truth>("logical_and", [](auto x, auto y) { return logical_and(x, y); });
  row<truth, truth>("logical_or", [](auto x, auto y) { return logical_or(x, y); });
  row<truth, truth>("logical_xor", [](auto x, auto y) { return logical_xor(x, y); });
  row<truth>("logical_not", [](auto x) { return logical_not(x); });
  row<truth, matrix, vector>("select", [](auto c, auto x, auto y) { return select(c, x, y); });
  row<matrix>("cast", [](auto x) { return std::tuple(cast<std::int64_t>(x), cast<bool>(floor(x)), cast<double>(x)); });
}

}  // namespace flowgraph::testing
