#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/runtime/feed.hpp>
#include <flowgraph/runtime/print.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim time_steps{"time"};

template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const fg::argument_error& e) {
    return e.what();
  }
  return "no exception";
}

static_assert(fg::feedable<std::vector<float>> && fg::feedable<const std::vector<float>&>);
static_assert(fg::feedable<std::span<const double>> && fg::feedable<std::array<int, 3>>);
static_assert(fg::feedable<float[3]> && fg::feedable<float[3][4]> && fg::feedable<std::array<std::array<int, 2>, 3>>);
static_assert(fg::feedable<fg::ndarray<float, batch, 64>> && fg::feedable<float> && fg::feedable<fg::half>);
static_assert(!fg::feedable<std::vector<bool>> && !fg::feedable<std::string> && !fg::feedable<const char*>);
static_assert(!fg::feedable<std::vector<std::vector<float>>> && !fg::feedable<float*>);

}  // namespace

TEST_CASE("an ndarray has the extents of its type and the numbers of its names") {
  const fg::ndarray<float, 2, 3> fixed{{1, 2, 3}, {4, 5, 6}};
  CHECK(fixed.size() == 6);
  CHECK(fixed.dims() == std::array<std::int64_t, 2>{2, 3});
  CHECK(fixed(1, 2) == 6);

  const fg::ndarray<float, batch, 2> named{{1, 2}, {3, 4}, {5, 6}};
  CHECK(named.dim(0) == 3);
  CHECK(named(2, 0) == 5);

  const fg::ndarray<std::int64_t, batch> labels{7, 8};
  CHECK(labels.size() == 2);
  CHECK(labels(1) == 8);

  const fg::ndarray<double, 2, batch, 2> cube{{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}};
  CHECK(cube.dim(1) == 3);
  CHECK(cube(1, 2, 0) == 11);

  const fg::ndarray<float, batch, time_steps> bound(batch(4), time_steps(5));
  CHECK(bound.size() == 20);
  CHECK(bound(3, 4) == 0);
  const fg::ndarray<float, 2 * batch> derived(batch(4));
  CHECK(derived.size() == 8);

  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const fg::ndarray<float, batch, 3> flat(values);
  CHECK(flat.dim(0) == 2);
  CHECK(flat(1, 0) == 4);

  CHECK(fg::ndarray<float, batch, 3>().size() == 0);
  CHECK(fg::ndarray<float, 2, 3>()(1, 2) == 0);
}

TEST_CASE("a scalar array is its number") {
  const fg::ndarray<float> x = 2.5f;
  const float y = x;
  CHECK(y == 2.5f);
  CHECK(x() == 2.5f);
  CHECK(x.size() == 1);
}

TEST_CASE("memory is aligned, copied, moved and compared") {
  fg::ndarray<float, batch> a{1, 2, 3};
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
  fg::ndarray<float, batch> b = a;
  CHECK(a == b);
  b(1) = 7;
  CHECK(a(1) == 2);
  CHECK_FALSE(a == b);
  const float* const data = b.data();
  const fg::ndarray<float, batch> c = std::move(b);
  CHECK(c.data() == data);
  CHECK(b.size() == 0);
  a = c;
  CHECK(a == c);
  float sum = 0;
  for (const float x : a) sum += x;
  CHECK(sum == 11);
  CHECK(a.span().size() == 3);
}

TEST_CASE("what does not fit is refused with both shapes") {
  CHECK(refusal([] { fg::ndarray<float, 2, 2> a{{1, 2}}; }) == "ndarray: expected float[2, 2], got float[1, 2]");
  CHECK(refusal([] {
          fg::ndarray<float, batch, 2> a{{1, 2}, {3}};
        }) == "ndarray: expected float[batch, 2], got rows of different lengths");
  const std::vector<float> five(5);
  CHECK(refusal([&] { fg::ndarray<float, batch, 2> a(five); }) == "ndarray: expected float[batch, 2], got 5 values");
  CHECK(refusal([&] { fg::ndarray<float, batch, time_steps> a(five); }) ==
        "ndarray: expected float[batch, time], got 5 values; two extents are named: state the extents");
  CHECK(refusal([] { fg::ndarray<float, batch, time_steps> a(batch(2)); }) ==
        "ndarray: expected float[batch, time], got no number for \"time\"");
  CHECK(refusal([] { fg::ndarray<float, batch> a(batch(-2)); }) != "no exception");
}

TEST_CASE("arrays print as NumPy's do") {
  CHECK(fmt::format("{}", fg::ndarray<float>(1.5f)) == "1.5");
  CHECK(fmt::format("{}", fg::ndarray<int, 3>{1, 20, 3}) == "[ 1 20  3]");
  CHECK(fmt::format("{}", fg::ndarray<float, batch, 2>{{1, 2}, {3, 4.25f}}) == "[[   1    2]\n [   3 4.25]]");
  CHECK(fmt::format("{:.2f}", fg::ndarray<double, 2>{1, 2.345}) == "[1.00 2.35]");
  CHECK(fmt::format("{}", fg::ndarray<int, 2, 1, 2>{{{1, 2}}, {{3, 4}}}) == "[[[1 2]]\n\n [[3 4]]]");
  CHECK(fmt::format("{}", fg::ndarray<bool, 2>{true, false}) == "[ true false]");
  CHECK(fmt::format("{}", fg::ndarray<std::uint8_t, 2>{7, 65}) == "[ 7 65]");
  CHECK(fmt::format("{}", fg::ndarray<fg::half, 1>{fg::half(0.5f)}) == "[0.5]");
  CHECK(fmt::format("{}", fg::ndarray<float, batch>()) == "[]");
  fg::ndarray<int, 2000> many;
  for (int i = 0; i < 2000; ++i) many(i) = i;
  CHECK(fmt::format("{}", many) == "[   0    1    2 ... 1997 1998 1999]");
}
