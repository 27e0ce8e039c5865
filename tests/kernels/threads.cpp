// Kernels on several threads: the same bits on any number of them, at sizes that are cut into parts, and the right
// ones.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include <unsupported/Eigen/CXX11/ThreadPool>

#include <flowgraph/engine/threads/crew.hpp>
#include <flowgraph/kernels/cpu/all.hpp>
#include <flowgraph/kernels/cpu/in_float.hpp>
#include <support/run_kernel.hpp>

namespace fg = flowgraph;

namespace {

using fg::testing::host_array, fg::testing::spread_numbers;

host_array<std::int64_t> positions(std::vector<std::int64_t> dims, std::int64_t below) {
  host_array<std::int64_t> a(std::move(dims));
  std::uint64_t seed = 7;
  for (std::int64_t& v : a.values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<std::int64_t>((seed >> 33) % static_cast<std::uint64_t>(below));
  }
  return a;
}

// The kernel's result on one thread, after a check that two and four give the same.
template <class Op, class T = float, class Result = T, class Attrs, class... In>
host_array<Result> on_all(const Attrs& attributes, std::vector<std::int64_t> dims, In... in) {
  const fg::array_view operands[1 + sizeof...(In)] = {in.view()...};
  const auto words = fg::detail::words_of(attributes);
  host_array<Result> expected(dims);
  for (const int threads : {1, 2, 4}) {
    Eigen::ThreadPool pool(threads);
    fg::detail::crew helpers(&pool, threads);
    const fg::kernel_context context{.seed = 3, .step = 5, .helpers = threads == 1 ? nullptr : &helpers};
    host_array<Result> result(dims);
    const fg::array_view out = result.view();
    fg::kernel_args k = fg::testing::arguments(operands, sizeof...(In), &out, words);
    k.node = 11;
    k.context = &context;
    if constexpr (fg::detail::is_16_bit_float<T>)
      fg::detail::run_in_float<Op, T>(k);
    else
      fg::cpu_kernel<Op>::template run<T>(k);
    if (threads == 1)
      expected = result;
    else
      CHECK(std::memcmp(result.values.data(), expected.values.data(), result.values.size() * sizeof(Result)) == 0);
  }
  return expected;
}

double total(const host_array<float>& a) {
  double sum = 0;
  for (const float v : a.values) sum += v;
  return sum;
}
double dot(const host_array<float>& a, const host_array<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += static_cast<double>(a.values[i]) * b.values[i];
  return sum;
}

}  // namespace

TEST_CASE("products in blocks") {
  const auto a = spread_numbers<float>({300, 257}), b = spread_numbers<float>({257, 290}, 2);
  const auto y = on_all<fg::ops::matmul>(fg::ops::matmul::attrs{0, 0}, {300, 290}, a, b);
  for (const std::int64_t i : {0, 149, 150, 159, 160, 299})
    for (const std::int64_t j : {0, 144, 145, 159, 160, 289}) {
      double sum = 0;
      for (std::int64_t l = 0; l < 257; ++l)
        sum += static_cast<double>(a.values[static_cast<std::size_t>(i * 257 + l)]) *
               b.values[static_cast<std::size_t>(l * 290 + j)];
      CHECK(y.values[static_cast<std::size_t>(i * 290 + j)] == doctest::Approx(sum).epsilon(1e-4));
    }
  // The transposed operands hold the same numbers.
  const auto turn = [](const host_array<float>& x) {
    host_array<float> t({x.dims[1], x.dims[0]});
    for (std::int64_t i = 0; i < x.dims[0]; ++i)
      for (std::int64_t j = 0; j < x.dims[1]; ++j)
        t.values[static_cast<std::size_t>(j * x.dims[0] + i)] = x.values[static_cast<std::size_t>(i * x.dims[1] + j)];
    return t;
  };
  const auto ta = on_all<fg::ops::matmul>(fg::ops::matmul::attrs{1, 0}, {300, 290}, turn(a), b);
  const auto tb = on_all<fg::ops::matmul>(fg::ops::matmul::attrs{0, 1}, {300, 290}, a, turn(b));
  double worst = 0;
  for (std::size_t i = 0; i < y.values.size(); ++i)
    worst = std::max({worst, std::abs(static_cast<double>(y.values[i] - ta.values[i])),
                      std::abs(static_cast<double>(y.values[i] - tb.values[i]))});
  CHECK(worst < 1e-4);
  on_all<fg::ops::matmul>(fg::ops::matmul::attrs{0, 0}, {40, 33, 35}, spread_numbers<float>({40, 33, 34}),
                          spread_numbers<float>({40, 34, 35}));
  on_all<fg::ops::matmul, std::int32_t>(fg::ops::matmul::attrs{0, 0}, {70, 90}, spread_numbers<std::int32_t>({70, 80}),
                                        spread_numbers<std::int32_t>({80, 90}));
  on_all<fg::ops::matmul, fg::half>(fg::ops::matmul::attrs{0, 0}, {150, 190}, spread_numbers<fg::half>({150, 280}),
                                    spread_numbers<fg::half>({280, 190}));
}

TEST_CASE("convolutions and pools") {
  const fg::conv c{.padding = fg::same}, strided{.stride = {2, 2}, .padding = fg::same};
  const fg::conv first{.padding = fg::same, .layout = fg::nchw};
  const auto x = spread_numbers<float>({3, 29, 31, 16}), w = spread_numbers<float>({3, 3, 16, 24}, 2);
  const auto z = spread_numbers<float>({3, 29, 31, 24}, 3), half_size = spread_numbers<float>({3, 15, 16, 24}, 4);
  // The convolution and its gradients are the derivatives of one trilinear form.
  const double form = dot(on_all<fg::ops::conv2d>(c, z.dims, x, w), z);
  CHECK(dot(on_all<fg::ops::conv2d_input_gradient>(c, x.dims, z, w), x) == doctest::Approx(form).epsilon(1e-4));
  CHECK(dot(on_all<fg::ops::conv2d_filter_gradient>(c, w.dims, x, z), w) == doctest::Approx(form).epsilon(1e-4));
  const double by_two = dot(on_all<fg::ops::conv2d>(strided, half_size.dims, x, w), half_size);
  CHECK(dot(on_all<fg::ops::conv2d_input_gradient>(strided, x.dims, half_size, w), x) ==
        doctest::Approx(by_two).epsilon(1e-4));
  const fg::conv depthwise{.padding = fg::same, .groups = 16};
  const auto each = spread_numbers<float>({3, 3, 1, 16}, 5);
  const double sum = dot(on_all<fg::ops::conv2d>(depthwise, x.dims, x, each), x);
  CHECK(dot(on_all<fg::ops::conv2d_input_gradient>(depthwise, x.dims, x, each), x) ==
        doctest::Approx(sum).epsilon(1e-4));
  CHECK(dot(on_all<fg::ops::conv2d_filter_gradient>(depthwise, each.dims, x, x), each) ==
        doctest::Approx(sum).epsilon(1e-4));
  on_all<fg::ops::conv2d>(first, {3, 24, 31, 29}, spread_numbers<float>({3, 16, 31, 29}), w);

  const fg::pool p{.window = {3, 3}, .stride = {2, 2}, .padding = fg::same};
  const auto y = spread_numbers<float>({3, 15, 16, 16}, 6);
  on_all<fg::ops::max_pool>(p, y.dims, x);
  CHECK(total(on_all<fg::ops::max_pool_gradient>(p, x.dims, x, y)) == doctest::Approx(total(y)).epsilon(1e-4));
  on_all<fg::ops::max_pool_select>(p, y.dims, x, x);
  const double mean = dot(on_all<fg::ops::avg_pool>(p, y.dims, x), y);
  CHECK(dot(on_all<fg::ops::avg_pool_gradient>(p, x.dims, y), x) == doctest::Approx(mean).epsilon(1e-4));
  on_all<fg::ops::neighbour_sum>(fg::ops::neighbour_sum::attrs{2, 3}, x.dims, x);
  on_all<fg::ops::neighbour_sum>(fg::ops::neighbour_sum::attrs{2, 1}, x.dims, x);
}

TEST_CASE("reductions over outer, inner and several axes") {
  const auto x = spread_numbers<float>({70, 50, 90});
  const std::int64_t masks[] = {1, 2, 4, 3, 5, 6, 7};
  for (const std::int64_t mask : masks) {
    CAPTURE(mask);
    std::vector<std::int64_t> dims;
    for (int i = 0; i < 3; ++i)
      if (((mask >> i) & 1) == 0) dims.push_back(x.dims[static_cast<std::size_t>(i)]);
    const fg::ops::reduce_attrs a{mask, 0};
    const auto sum = on_all<fg::ops::reduce_sum>(a, dims, x);
    CHECK(total(sum) == doctest::Approx(total(x)).epsilon(1e-5));
    std::map<std::int64_t, double> expected;  // of each result, by definition
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      const std::int64_t index[] = {static_cast<std::int64_t>(i) / 4500, static_cast<std::int64_t>(i) / 90 % 50,
                                    static_cast<std::int64_t>(i) % 90};
      std::int64_t at = 0;
      for (int k = 0; k < 3; ++k)
        if (((mask >> k) & 1) == 0) at = at * x.dims[static_cast<std::size_t>(k)] + index[k];
      expected[at] += x.values[i];
    }
    double worst = 0;
    for (const auto& [at, value] : expected)
      worst = std::max(worst, std::abs(value - sum.values[static_cast<std::size_t>(at)]));
    CHECK(worst < 1e-3);
    on_all<fg::ops::reduce_max>(a, dims, x);
    on_all<fg::ops::logsumexp>(a, dims, x);
    on_all<fg::ops::norm>(a, dims, x);
    on_all<fg::ops::reduce_prod>(a, dims, x);
    on_all<fg::ops::product_of_others>(a, x.dims, x);
    on_all<fg::ops::reduce_sum, fg::bfloat16>(a, dims, spread_numbers<fg::bfloat16>(x.dims));
  }
  // Very long: the parts of one result are merged.
  const auto line = spread_numbers<float>({300'007});
  const auto greatest = on_all<fg::ops::reduce_max>(fg::ops::reduce_attrs{1, 0}, {}, line);
  CHECK(greatest.values[0] == *std::max_element(line.values.begin(), line.values.end()));
  CHECK(total(on_all<fg::ops::reduce_sum>(fg::ops::reduce_attrs{1, 0}, {}, line)) ==
        doctest::Approx(total(line)).epsilon(1e-6));
}

TEST_CASE("softmax, positions, order, copies") {
  const auto x = spread_numbers<float>({200, 301});
  for (const std::int64_t axis : {0, 1}) {
    const auto y = on_all<fg::ops::softmax>(fg::ops::axis_attrs{axis}, x.dims, x);
    CHECK(total(y) == doctest::Approx(axis == 0 ? 301 : 200).epsilon(1e-4));
    on_all<fg::ops::log_softmax>(fg::ops::axis_attrs{axis}, x.dims, x);
    on_all<fg::ops::argmax, float, std::int64_t>(fg::ops::argmax::attrs{axis},
                                                 {axis == 0 ? std::int64_t{301} : std::int64_t{200}}, x);
    on_all<fg::ops::argsort, float, std::int64_t>(fg::ops::argsort::attrs{axis, 0}, x.dims, x);
    on_all<fg::ops::cumsum>(fg::ops::cumsum::attrs{axis, 0, 0}, x.dims, x);
  }
  // One matrix of many columns: they are what threads share.
  const auto tall = spread_numbers<float>({900, 170});
  const auto summed = on_all<fg::ops::cumsum>(fg::ops::cumsum::attrs{0, 0, 0}, tall.dims, tall);
  const auto best = on_all<fg::ops::argmax, float, std::int64_t>(fg::ops::argmax::attrs{0}, {170}, tall);
  for (const std::size_t c : {0u, 31u, 32u, 47u, 48u, 169u}) {
    double sum = 0;
    std::size_t greatest = 0;
    for (std::size_t i = 0; i < 900; ++i) {
      sum += tall.values[i * 170 + c];
      if (tall.values[i * 170 + c] > tall.values[greatest * 170 + c]) greatest = i;
    }
    CHECK(summed.values[899 * 170 + c] == doctest::Approx(sum).epsilon(1e-3));
    CHECK(best.values[c] == static_cast<std::int64_t>(greatest));
  }
  const auto labels = positions({200}, 301);
  on_all<fg::ops::sparse_softmax_cross_entropy>(fg::no_attrs{}, {200}, x, labels);
  CHECK(std::abs(total(on_all<fg::ops::softmax_minus_one_hot>(fg::no_attrs{}, x.dims, x, labels))) < 1e-3);
  const auto rows = positions({500}, 200);
  const auto taken = on_all<fg::ops::gather>(fg::ops::gather_attrs{0}, {500, 301}, x, rows);
  on_all<fg::ops::embedding_lookup>(fg::no_attrs{}, {500, 301}, x, rows);
  CHECK(total(on_all<fg::ops::gather_gradient>(fg::ops::gather_attrs{0}, x.dims, rows, taken)) ==
        doctest::Approx(total(taken)).epsilon(1e-4));
  on_all<fg::ops::indexed_slices>(fg::no_attrs{}, x.dims, rows, taken);
  fg::ops::permutation swap{};
  swap.set(0, 1), swap.set(1, 0);
  on_all<fg::ops::transpose>(swap, {301, 200}, x);
  fg::ops::tile::attrs twice{};
  twice.count[0] = 2, twice.count[1] = 3;
  CHECK(total(on_all<fg::ops::tile>(twice, {400, 903}, x)) == doctest::Approx(6 * total(x)).epsilon(1e-4));
  fg::ops::pad::attrs around{};
  around.begin[0] = 3, around.begin[1] = 5, around.value = fg::ops::number_word<float>(1);
  CHECK(total(on_all<fg::ops::pad>(around, {210, 310}, x)) ==
        doctest::Approx(total(x) + 210 * 310 - 200 * 301).epsilon(1e-4));
}

TEST_CASE("random numbers") {
  on_all<fg::ops::random_uniform>(fg::ops::random_uniform::attrs{-1, 1}, {100'003});
  on_all<fg::ops::random_uniform, double>(fg::ops::random_uniform::attrs{-1, 1}, {50'001});
  on_all<fg::ops::random_normal>(fg::ops::normal_attrs{0, 1}, {100'003});
  on_all<fg::ops::truncated_normal>(fg::ops::normal_attrs{0, 1}, {100'003});
  on_all<fg::ops::bernoulli, std::int8_t>(fg::ops::bernoulli::attrs{0.3}, {100'003});
  const auto ones = [] {
    host_array<float> a({100'003});
    for (float& v : a.values) v = 1;
    return a;
  }();
  CHECK(total(on_all<fg::ops::dropout>(fg::ops::dropout::attrs{0.25, 4}, {100'003}, ones)) ==
        doctest::Approx(100'003).epsilon(0.01));
}
