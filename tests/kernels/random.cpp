// The generator against its authors' known answers, and the distributions by their bounds and moments.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <flowgraph/kernels/cpu/random.hpp>
#include "support/golden.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

// Known answers of Random123, the library of Philox's authors; here also in a constant expression.
static_assert(fg::philox4x32_10({{0, 0, 0, 0}}, 0) ==
              fg::philox_block{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
static_assert(fg::philox4x32_10({{~0u, ~0u, ~0u, ~0u}}, ~0ull) ==
              fg::philox_block{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
static_assert(fg::philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822) ==
              fg::philox_block{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});

static_assert(fg::detail::multiply_high(~0ull, ~0ull) == ~0ull - 1);
static_assert(fg::detail::multiply_high(1ull << 40, 3ull << 30) == 192);

struct moments {
  double mean = 0, deviation = 0, least = 0, greatest = 0;
};

template <class T>
moments measure(const std::vector<T>& values) {
  moments m;
  m.least = m.greatest = static_cast<double>(values[0]);
  for (const T v : values) {
    const double x = static_cast<double>(v);
    m.mean += x / static_cast<double>(values.size());
    m.least = std::min(m.least, x);
    m.greatest = std::max(m.greatest, x);
  }
  for (const T v : values)
    m.deviation += std::pow(static_cast<double>(v) - m.mean, 2) / static_cast<double>(values.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

constexpr fg::random_stream stream(42, 7, 3);
constexpr std::int64_t count = 100'003;

template <class T>
std::vector<T> values() {
  return std::vector<T>(static_cast<std::size_t>(count));
}

}  // namespace

TEST_CASE("philox4x32_10 gives the numbers of the referee") {
  const auto cases = fg::testing::read_goldens(fg::testing::test_file("golden/ops/random.txt"));
  CHECK(cases.size() >= 7);
  for (const auto& c : cases) {
    INFO(c.name);
    const auto counter = c.in[0].as<std::uint32_t>(), key = c.in[1].as<std::uint32_t>();
    const auto expected = c.out[0].as<std::uint32_t>();
    const auto block = fg::philox4x32_10({{counter[0], counter[1], counter[2], counter[3]}},
                                         (static_cast<std::uint64_t>(key[1]) << 32) | key[0]);
    for (std::size_t i = 0; i < 4; ++i) CHECK(block.word[i] == expected[i]);
  }
}

TEST_CASE_TEMPLATE("uniform numbers fill their interval evenly", T, float, double, fg::half, fg::bfloat16) {
  auto x = values<T>();
  fg::fill_uniform(stream, x.data(), count, -1, 3);
  const moments m = measure(x);
  CHECK(m.mean == doctest::Approx(1).epsilon(0.02));
  CHECK(m.deviation == doctest::Approx(4 / std::sqrt(12.0)).epsilon(0.02));
  CHECK(m.least >= -1);
  CHECK(m.least < -0.95);
  CHECK(m.greatest < 3);
  CHECK(m.greatest > 2.95);
}

TEST_CASE_TEMPLATE("uniform integers take every value and no other", T, std::int32_t, std::int64_t) {
  auto x = values<T>();
  fg::fill_uniform(stream, x.data(), count, -3, 5);
  std::vector<int> seen(8, 0);
  for (const T v : x) {
    REQUIRE(v >= -3);
    REQUIRE(v < 5);
    ++seen[static_cast<std::size_t>(v + 3)];
  }
  for (const int n : seen) CHECK(n == doctest::Approx(count / 8.0).epsilon(0.04));
}

TEST_CASE_TEMPLATE("normal numbers have their mean, deviation and tails", T, float, double, fg::half, fg::bfloat16) {
  auto x = values<T>();
  fg::fill_normal(stream, x.data(), count, 5, 2);
  const moments m = measure(x);
  CHECK(m.mean == doctest::Approx(5).epsilon(0.01));
  CHECK(m.deviation == doctest::Approx(2).epsilon(0.02));
  CHECK(m.greatest > 5 + 2 * 3.5);
  const auto inside = std::count_if(x.begin(), x.end(), [](T v) { return std::abs(static_cast<double>(v) - 5) < 2; });
  CHECK(static_cast<double>(inside) / count == doctest::Approx(0.6827).epsilon(0.02));
}

TEST_CASE_TEMPLATE("truncated normal numbers stay within two deviations", T, float, double) {
  auto x = values<T>();
  fg::fill_truncated_normal(stream, x.data(), count, -1, 3);
  const moments m = measure(x);
  CHECK(m.least >= -7);
  CHECK(m.greatest <= 5);
  CHECK(m.mean == doctest::Approx(-1).epsilon(0.03));
  CHECK(m.deviation == doctest::Approx(3 * 0.8796).epsilon(0.02));
}

TEST_CASE("bernoulli draws the same mask for every element type") {
  auto f = values<float>();
  std::vector<std::int64_t> n(static_cast<std::size_t>(count));
  fg::fill_bernoulli(stream, f.data(), count, 0.3);
  fg::fill_bernoulli(stream, n.data(), count, 0.3);
  CHECK(std::equal(f.begin(), f.end(), n.begin(), [](float a, std::int64_t b) { return a == static_cast<float>(b); }));
  CHECK(measure(f).mean == doctest::Approx(0.3).epsilon(0.03));
  fg::fill_bernoulli(stream, f.data(), count, 1);
  CHECK(measure(f).least == 1);
  fg::fill_bernoulli(stream, f.data(), count, 0);
  CHECK(measure(f).greatest == 0);
}

TEST_CASE("a permutation holds every number once and is not the identity") {
  auto p = values<std::int64_t>();
  fg::fill_permutation(stream, p.data(), count);
  int at_home = 0;
  for (std::int64_t i = 0; i < count; ++i) at_home += p[static_cast<std::size_t>(i)] == i;
  CHECK(at_home < 10);
  std::sort(p.begin(), p.end());
  for (std::int64_t i = 0; i < count; ++i) REQUIRE(p[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("seed, node and step each give other numbers; the count does not") {
  float a[8], b[8];
  fg::fill_uniform(fg::random_stream(1, 2, 3), a, 8, 0, 1);
  fg::fill_uniform(fg::random_stream(1, 2, 3), b, 5, 0, 1);
  CHECK(std::equal(b, b + 5, a));
  for (const fg::random_stream other :
       {fg::random_stream(2, 2, 3), fg::random_stream(1, 3, 3), fg::random_stream(1, 2, 4)}) {
    fg::fill_uniform(other, b, 8, 0, 1);
    CHECK_FALSE(std::equal(a, a + 8, b));
  }
}

TEST_CASE("the kernel draws from the stream of its session, node and step") {
  const std::int64_t dims[] = {2, 3};
  float out[6], expected[6];
  const fg::array_view result{out, dims, 2, fg::dtype::float32};
  const fg::kernel_context context{11, 5};
  const auto words = fg::detail::words_of(fg::ops::random_uniform::attrs{-2, 2});
  fg::kernel_args k;
  k.out = &result;
  k.n_out = 1;
  k.words = words.w;
  k.n_words = 2;
  k.node = 9;
  k.context = &context;
  fg::cpu_kernel<fg::ops::random_uniform>::run<float>(k);
  fg::fill_uniform(fg::random_stream(11, 9, 5), expected, 6, -2, 2);
  CHECK(std::equal(out, out + 6, expected));
}
