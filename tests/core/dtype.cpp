// half and bfloat16 against Eigen's conversions, which are independent of ours.
#include <doctest/doctest.h>

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <flowgraph/core/dtype.hpp>

namespace fg = flowgraph;

static_assert(fg::detail::dtype_of<float> == fg::dtype::float32 &&
              fg::detail::dtype_of<long double> == fg::dtype::none);
static_assert(std::same_as<fg::type_of<fg::dtype::int64>, std::int64_t>);
static_assert(fg::size_of(fg::dtype::bfloat16) == 2 && fg::name_of(fg::dtype::float16) == "half");
static_assert(fg::is_floating(fg::dtype::float16) && !fg::is_floating(fg::dtype::int64));
static_assert(static_cast<float>(fg::half(1.5f)) == 1.5f, "conversions are constant expressions");

namespace {

bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

}  // namespace

TEST_CASE("every 16-bit pattern converts to the float that Eigen says") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto u = static_cast<std::uint16_t>(bits);
    fg::half h;
    h.bits = u;
    fg::bfloat16 b;
    b.bits = u;
    REQUIRE(same(h, static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(u))));
    REQUIRE(same(b, static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(u))));
  }
}

TEST_CASE("floats round as Eigen rounds them, ties and subnormals included") {
  std::uint32_t bits = 1;
  for (int i = 0; i < 400000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const auto f = std::bit_cast<float>(bits);
    if (std::isnan(f)) {
      REQUIRE(std::isnan(static_cast<float>(fg::half(f))));
      REQUIRE(std::isnan(static_cast<float>(fg::bfloat16(f))));
      continue;
    }
    REQUIRE(same(fg::half(f), static_cast<float>(Eigen::half(f))));
    REQUIRE(same(fg::bfloat16(f), static_cast<float>(Eigen::bfloat16(f))));
  }
  for (std::uint32_t half_bits = 0; half_bits < 0x7C00; ++half_bits) {  // the midpoint between neighbours
    fg::half low, high;
    low.bits = static_cast<std::uint16_t>(half_bits);
    high.bits = static_cast<std::uint16_t>(half_bits + 1);
    if (half_bits + 1 == 0x7C00) break;
    const float middle = (static_cast<float>(low) + static_cast<float>(high)) / 2;
    REQUIRE(fg::half(middle).bits == (half_bits % 2 == 0 ? low.bits : high.bits));
  }
  CHECK(std::isinf(static_cast<float>(fg::half(std::numeric_limits<float>::max()))));
}
