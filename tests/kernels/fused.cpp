// Tile programs against the same arithmetic done element by element, over shapes that cross tiles in every way.
#include <flowgraph/kernels/cpu/fused.hpp>
#include <flowgraph/kernels/region.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/kernels/cpu/binding.hpp>
#include <flowgraph/kernels/cpu/elementwise.hpp>

namespace fg = flowgraph;
using fg::dtype;

namespace {

template <class Op, class T>
fg::tile_function tile_of() {
  return fg::detail::bind_type<Op, T, fg::detail::region_mode::compiled>().tile;
}

struct array {
  std::vector<std::int64_t> dims;
  std::vector<float> values;

  explicit array(std::vector<std::int64_t> d) : dims(std::move(d)) {
    std::int64_t n = 1;
    for (const auto e : dims) n *= e;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>((i * 37 + 11) % 101) / 7.0f);
  }
  fg::array_view view() { return {values.data(), dims.data(), static_cast<int>(dims.size()), dtype::float32}; }
  // The element that stands at this place of a larger shape.
  float at(const std::vector<std::int64_t>& shape, std::int64_t place) const {
    std::int64_t offset = 0, stride = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::int64_t extent = shape[shape.size() - 1 - i], index = place % extent;
      place /= extent;
      if (i >= dims.size()) continue;
      const std::int64_t own = dims[dims.size() - 1 - i];
      if (own != 1) offset += index * stride;
      stride *= own;
    }
    return values[static_cast<std::size_t>(offset)];
  }
};

// (a + b) * c
fg::tile_program three_operands() {
  fg::tile_program p;
  p.n_steps = 2;
  p.code[0] = {tile_of<fg::ops::add, float>(), {-1, -2}, 2, -1};
  p.code[1] = {tile_of<fg::ops::mul, float>(), {0, -3}, 2, -1};
  p.assign_tiles(4);
  return p;
}

void run(const fg::tile_program& p, const fg::array_view* in, const fg::array_view& out) {
  fg::kernel_args k;
  k.in = in;
  k.out = &out;
  k.region = &p;
  fg::run_region(k);
}

}  // namespace

TEST_CASE("operands are broadcast tile by tile") {
  const std::vector<std::int64_t> shape{3, 5, 7, 31};  // three tiles and a rest
  const std::vector<std::vector<std::int64_t>> others{
      {},         {1},          {31},         {7, 1},        {7, 31},       {5, 1, 1},     {5, 7, 31},
      {5, 1, 31}, {3, 1, 1, 1}, {3, 1, 7, 1}, {3, 5, 1, 31}, {1, 5, 1, 31}, {3, 5, 7, 31}, {1, 1, 1, 1}};
  const fg::tile_program p = three_operands();
  for (const auto& second : others)
    for (const auto& third : others) {
      array a(shape), b(second), c(third), y(shape);
      const fg::array_view in[] = {a.view(), b.view(), c.view()};
      run(p, in, y.view());
      int wrong = 0;
      for (std::size_t i = 0; i < y.values.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i);
        if (y.values[i] != (a.values[i] + b.at(shape, place)) * c.at(shape, place)) ++wrong;
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("a result may take the place of an operand") {
  const fg::tile_program p = three_operands();
  array a({5000}), b({5000}), c({1});
  std::vector<float> expected;
  for (std::size_t i = 0; i < 5000; ++i) expected.push_back((a.values[i] + b.values[i]) * c.values[0]);
  const fg::array_view in[] = {a.view(), b.view(), c.view()};
  run(p, in, b.view());
  CHECK(b.values == expected);
}

TEST_CASE("long programs reuse their tiles") {
  // x, x + x, ... each step reads the two before it: y_k = y_(k-1) + y_(k-2).
  fg::tile_program p;
  p.n_steps = fg::max_program_steps;
  for (int s = 0; s < p.n_steps; ++s)
    p.code[s] = {tile_of<fg::ops::add, float>(), {s > 0 ? s - 1 : -1, s > 1 ? s - 2 : -1}, 2, -1};
  p.assign_tiles(4);
  CHECK(p.tiles <= 3);
  array x({3000}), y({3000});
  const fg::array_view in[] = {x.view()};
  run(p, in, y.view());
  float before = 1, now = 1;  // in multiples of x
  for (int s = 0; s < p.n_steps; ++s) {
    const float next = before + now;
    before = now;
    now = next;
  }
  for (std::size_t i = 0; i < 3000; i += 371) CHECK(y.values[i] == doctest::Approx(now * x.values[i]));
}

TEST_CASE("types may change on the way, and the widest decides a tile") {
  // cast<double>(select(x > 5, x, 0))
  fg::tile_program p;
  p.n_steps = 3;
  p.code[0] = {tile_of<fg::ops::greater, float>(), {-1, -2}, 2, -1};
  p.code[1] = {tile_of<fg::ops::select, float>(), {0, -1, -3}, 3, -1};
  p.code[2] = {&fg::detail::cast_tile<double, float>, {1}, 1, -1};
  p.assign_tiles(8);
  CHECK(p.elements == 512);
  array x({700}), five({}), zero({});
  five.values = {5};
  zero.values = {0};
  std::vector<double> y(700);
  const std::int64_t dims[] = {700};
  const fg::array_view in[] = {x.view(), five.view(), zero.view()};
  run(p, in, {y.data(), dims, 1, dtype::float64});
  for (std::size_t i = 0; i < 700; ++i) CHECK(y[i] == (x.values[i] > 5 ? static_cast<double>(x.values[i]) : 0.0));
}

TEST_CASE("integers wrap around and divide as in Python, also where the processor would trap") {
  const auto apply = []<class T>(fg::tile_function f, std::vector<T> a, std::vector<T> b) {
    std::vector<T> y(a.size());
    const void* in[] = {a.data(), b.data()};
    f(y.data(), in, static_cast<int>(a.size()));
    return y;
  };
  constexpr int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  using ints = std::vector<int>;
  CHECK(apply(tile_of<fg::ops::add, int>(), ints{most}, ints{1}) == ints{least});
  CHECK(apply(tile_of<fg::ops::mul, int>(), ints{most}, ints{2}) == ints{-2});
  CHECK(apply(tile_of<fg::ops::neg, int>(), ints{least}, ints{0}) == ints{least});
  CHECK(apply(tile_of<fg::ops::floordiv, int>(), ints{least, -7, 7}, ints{-1, 2, -2}) == ints{least, -4, -4});
  CHECK(apply(tile_of<fg::ops::mod, int>(), ints{least, -7, 7}, ints{-1, 2, -2}) == ints{0, 1, -1});
  using bytes = std::vector<std::uint8_t>;
  CHECK(apply(tile_of<fg::ops::sub, std::uint8_t>(), bytes{3}, bytes{5}) == bytes{254});
  CHECK_THROWS_AS(apply(tile_of<fg::ops::mod, int>(), ints{1}, ints{0}), fg::execution_error);
}

TEST_CASE("casts stop at the ends of an integer's range") {
  using fg::detail::convert;
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(convert<int>(3.99f) == 3);
  CHECK(convert<int>(-3.99f) == -3);
  CHECK(convert<int>(3e9f) == std::numeric_limits<int>::max());
  CHECK(convert<int>(-inf) == std::numeric_limits<int>::min());
  CHECK(convert<std::int64_t>(inf) == std::numeric_limits<std::int64_t>::max());
  CHECK(convert<std::int64_t>(9.3e18) == std::numeric_limits<std::int64_t>::max());
  CHECK(convert<std::uint8_t>(256.0f) == 255);
  CHECK(convert<std::uint8_t>(-1.0f) == 0);
  CHECK(convert<std::int8_t>(-128.5f) == -128);
  CHECK(convert<int>(std::nanf("")) == 0);
  CHECK(convert<bool>(0.5f));
  CHECK_FALSE(convert<bool>(fg::half(0.0f)));
  CHECK(static_cast<float>(convert<fg::half>(std::int64_t{2049})) == 2048);
}

TEST_CASE("NaN passes through maximum, minimum, relu and sign") {
  const float nan = std::nanf("");
  const std::vector<float> a{nan, 1, nan, -2}, b{1, nan, nan, 3};
  std::vector<float> y(4);
  const void* in[] = {a.data(), b.data()};
  for (const fg::tile_function f : {tile_of<fg::ops::maximum, float>(), tile_of<fg::ops::minimum, float>()}) {
    f(y.data(), in, 4);
    for (std::size_t i = 0; i < 3; ++i) CHECK(std::isnan(y[i]));
    CHECK((y[3] == 3 || y[3] == -2));
  }
  for (const fg::tile_function f : {tile_of<fg::ops::relu, float>(), tile_of<fg::ops::sign, float>()}) {
    f(y.data(), in, 4);
    CHECK(std::isnan(y[0]));
    CHECK_FALSE(std::isnan(y[1]));
  }
}

TEST_CASE_TEMPLATE("every type is repeated to a larger shape", T, bool, std::int8_t, std::uint8_t, std::int32_t,
                   std::int64_t, fg::half, fg::bfloat16, float, double) {
  fg::tile_program p;
  p.n_steps = 1;
  p.code[0] = {tile_of<fg::ops::broadcast_to, T>(), {-1}, 1, -1};
  p.assign_tiles(sizeof(T));
  const std::int64_t from[] = {2, 3}, to[] = {2, 2, 3};
  T x[6], y[12];
  for (int i = 0; i < 6; ++i) x[i] = static_cast<T>(static_cast<float>(i));
  const fg::array_view in[] = {{x, from, 2, fg::detail::dtype_of<T>}};
  run(p, in, {y, to, 3, fg::detail::dtype_of<T>});
  for (int i = 0; i < 12; ++i) CHECK(static_cast<float>(y[i]) == static_cast<float>(x[i % 6]));
}
