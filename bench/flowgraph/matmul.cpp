// Products of square matrices.
#include "prepared.hpp"

namespace fg = flowgraph;

template <int N>
inline constexpr auto product = fg::define(
    [](fg::graph& g) { g.name("y", matmul(g.placeholder<float, N, N>("a"), g.placeholder<float, N, N>("b"))); });

template <int N>
bench::step row(int threads) {
  auto s = bench::prepared<product<N>>(threads);
  return [s, a = bench::numbers(N * N, 0, 1), b = bench::numbers(N * N, 1, 1)] {
    return s->template run<"y">(fg::feed<"a">(a), fg::feed<"b">(b))(N - 1, N - 1);
  };
}

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"matmul_256", row<256>}, {"matmul_1024", row<1024>}, {"matmul_2048", row<2048>}});
}
