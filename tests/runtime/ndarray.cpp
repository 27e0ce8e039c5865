#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/session/feed.hpp>

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
  CHECK(refusal([] { fg::ndarray<float, 2, 2> a{{1, 2}}; }) == "array: expected float[2, 2], got float[1, 2]");
  CHECK(refusal([] {
          fg::ndarray<float, batch, 2> a{{1, 2}, {3}};
        }) == "array: expected float[batch, 2], got rows of different lengths");
  const std::vector<float> five(5);
  CHECK(refusal([&] { fg::ndarray<float, batch, 2> a(five); }) == "array: expected float[batch, 2], got 5 values");
  CHECK(refusal([&] { fg::ndarray<float, batch, time_steps> a(five); }) ==
        "array: expected float[batch, time], got 5 values; two extents are named: state the extents");
  CHECK(refusal([] { fg::ndarray<float, batch, time_steps> a(batch(2)); }) ==
        "array: expected float[batch, time], got no number for \"time\"");
  CHECK(refusal([] { fg::ndarray<float, batch> a(batch(-2)); }) != "no exception");
}

TEST_CASE("rows and other shapes are views of the same memory") {
  fg::ndarray<float, batch, 2, 3> a{{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
  a[1][0][2] = 90;
  CHECK(a(1, 0, 2) == 90);
  const auto& fixed = a;
  static_assert(std::is_same_v<decltype(fixed[0]), fg::ndview<const float, 2, 3>>);
  CHECK(fixed[0].data() == a.data());
  CHECK(fixed[1](1, 0) == 10);

  auto flat = a.reshape<batch, 6>();
  static_assert(std::is_same_v<decltype(flat), fg::ndview<float, batch, 6>>);
  CHECK(flat.dim(0) == 2);
  flat(0, 5) = 60;
  CHECK(a(0, 1, 2) == 60);
  CHECK(fixed.reshape<time_steps, 3>().dim(0) == 4);  // follows from how many there are
  CHECK(fixed.reshape<time_steps, batch>(time_steps(6))(5, 1) == 12);
  CHECK(fixed.reshape<3, 4>()(2, 3) == 12);
  CHECK(refusal([&] { fixed.reshape<5, batch>(); }) == "array: expected float[5, batch], got 12 values");
  CHECK(refusal([&] { fixed.reshape<time_steps, fg::dim{"k"}>(); }) ==
        "array: expected float[time, k], got 12 values; two extents are named: state the extents");
}

TEST_CASE("any data of the right type and extents is viewed, or copied into an array") {
  float nested[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const fg::ndview<float, batch, 3> view(nested);
  CHECK(view.data() == &nested[0][0]);
  view(1, 2) = 7;
  CHECK(nested[1][2] == 7);
  const fg::ndarray<float, 2, 3> copy(nested);
  CHECK(copy(1, 2) == 7);
  CHECK(copy.data() != &nested[0][0]);

  std::vector<int> values{1, 2, 3, 4};
  const fg::ndview<const int, 2, batch> seen(values);
  CHECK(seen.data() == values.data());
  CHECK(seen.dim(1) == 2);
  const std::array<std::array<double, 2>, 2> rows{{{1, 2}, {3, 4}}};
  CHECK(fg::ndview<const double, 2, 2>(rows)(1, 0) == 3);
  CHECK(fg::ndarray<double, 2, 2>(rows)(0, 1) == 2);
  CHECK(fg::ndarray<int, batch>(std::span<const int>(values)).size() == 4);
  CHECK(fg::ndview<int, batch, 2>(values.data(), batch(2))(1, 1) == 4);

  const auto sum = [](fg::ndview<const float, batch, 3> v) {
    float s = 0;
    for (const float x : v) s += x;
    return s;
  };
  CHECK(sum(nested) == 22);
  CHECK(sum(copy) == 22);

  static_assert(!std::is_constructible_v<fg::ndview<float, batch>, const std::vector<float>&>);  // not writable
  static_assert(!std::is_constructible_v<fg::ndarray<float, 2>, std::vector<std::string>>);
  CHECK(refusal([&] { fg::ndarray<int, 3> a(values); }) == "array: expected int32[3], got 4 values");
  CHECK(refusal([&] { fg::ndview<int, batch, 2> a(values.data()); }) ==
        "array: expected int32[batch, 2], got no number for \"batch\"");
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(refusal([&] { fg::ndarray<float, batch, time_steps> a(batch(huge), time_steps(huge)); }) != "no exception");
}
