// Eigen's types as data: which are borrowed, which are copied, what their types say.
#include <Eigen/LU>
#include <flowgraph/arrays/eigen.hpp>

#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/session/session.hpp>

#include "models.hpp"

namespace fg = flowgraph;
using models::batch;

namespace {

using rows_f = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

static_assert(fg::feedable<Eigen::MatrixXf> && fg::feedable<rows_f> && fg::feedable<Eigen::ArrayXXd>);
static_assert(fg::feedable<Eigen::Map<const rows_f>> && fg::feedable<Eigen::VectorXi> && fg::feedable<Eigen::Array33f>);
static_assert(!fg::feedable<Eigen::MatrixXcf>);
static_assert(!fg::detail::copied_data<rows_f> && !fg::detail::copied_data<Eigen::VectorXf>);
static_assert(!fg::detail::copied_data<Eigen::Map<const rows_f>>);
static_assert(fg::detail::copied_data<Eigen::MatrixXf> && fg::detail::copied_data<Eigen::Block<rows_f>>);
static_assert(fg::detail::data_layout_of<Eigen::Matrix<float, 2, 3>>().extent[1] == 3);

template <class D>
const void* lent_at(const D& data) {
  return fg::detail::lent<D>(data).data.data;
}

template <class D>
std::vector<float> elements(const D& data) {
  const fg::detail::lent<D> l(data);
  const float* first = static_cast<const float*>(l.data.data);
  return {first, first + l.data.count};
}

constexpr auto rows_model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 3>("x");
  g.name("twice", x * 2);
  g.name("rows", reduce_sum<1>(x));
  g.variable<float, 2, 3>("w");
});

}  // namespace

TEST_CASE("what lies row by row is borrowed, everything else is copied") {
  rows_f m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  const std::vector<float> in_order{1, 2, 3, 4, 5, 6};
  CHECK(lent_at(m) == m.data());
  CHECK(elements(m) == in_order);
  const Eigen::Map<const rows_f> map(m.data(), 3, 2);
  CHECK(lent_at(map) == m.data());
  const Eigen::Ref<const rows_f> ref(m);
  CHECK(lent_at(ref) == m.data());

  const Eigen::MatrixXf columns = m;
  CHECK(lent_at(columns) != columns.data());
  CHECK(elements(columns) == in_order);
  CHECK(elements(Eigen::ArrayXXf(columns.array())) == in_order);
  CHECK(elements(columns + columns) == std::vector<float>{2, 4, 6, 8, 10, 12});
  CHECK(elements(m.rightCols(2)) == std::vector<float>{2, 3, 5, 6});
  CHECK(lent_at(m.bottomRows(1)) == m.data() + 3);
  CHECK(elements(m.transpose()) == std::vector<float>{1, 4, 2, 5, 3, 6});

  const Eigen::VectorXf v = Eigen::VectorXf::LinSpaced(3, 1, 3);
  CHECK(lent_at(v) == v.data());
  CHECK(lent_at(m.row(1)) == m.data() + 3);
  CHECK(elements(m.col(1)) == std::vector<float>{2, 5});
  CHECK(elements(Eigen::MatrixXf(0, 3)).empty());
}

TEST_CASE("an array is made of a matrix and seen as one") {
  Eigen::MatrixXf m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  fg::ndarray<float, batch, 3> a(m);
  CHECK(a == fg::ndarray<float, batch, 3>{{1, 2, 3}, {4, 5, 6}});
  auto map = fg::as_eigen(a);
  static_assert(decltype(map)::ColsAtCompileTime == 3 && decltype(map)::RowsAtCompileTime == Eigen::Dynamic);
  CHECK(map.data() == a.data());
  CHECK(map == m);
  map(1, 0) = 9;
  CHECK(a(1, 0) == 9);

  const fg::ndarray<double, 2, 2> fixed{{1, 2}, {3, 4}};
  static_assert(
      std::is_same_v<decltype(fg::as_eigen(fixed)), Eigen::Map<const Eigen::Matrix<double, 2, 2, Eigen::RowMajor>>>);
  CHECK(fg::as_eigen(fixed).determinant() == doctest::Approx(-2));
  const fg::ndarray<float, batch> vector{1, 2, 3};
  CHECK(fg::as_eigen(vector).sum() == 6);
  const fg::ndarray<float> two(2);
  CHECK(fg::as_eigen(two.view())(0, 0) == 2);
  fg::ndarray<float, 2, 2, 3> cube;
  CHECK(fg::as_eigen(cube.reshape<4, 3>()).rows() == 4);

  rows_f plain(2, 2);
  plain << 1, 2, 3, 4;
  const fg::ndview<float, batch, batch> seen(plain);
  seen(0, 1) = 7;
  CHECK(plain(0, 1) == 7);
}

TEST_CASE("a matrix of another shape is refused") {
  Eigen::MatrixXf m(2, 3);
  CHECK_THROWS_WITH_AS((fg::ndarray<float, batch, 2>(m)), "array: expected float[batch, 2], got float[2, 3]",
                       fg::argument_error);
  fg::session<rows_model> s;
  CHECK_THROWS_WITH_AS(s.run<"twice">(fg::feed<"x">(Eigen::MatrixXf(5, 2))),
                       doctest::Contains("): expected float[batch, 3], got float[5, 2]"), fg::feed_error);
  CHECK_THROWS_WITH_AS(s.set<"w">(Eigen::MatrixXf(3, 2)), "set \"w\": expected float[2, 3], got float[3, 2]",
                       fg::feed_error);
}

TEST_CASE("a step is fed with matrices, expressions and vectors") {
  fg::session<rows_model> s;
  Eigen::MatrixXf m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  const auto twice = s.run<"twice">(fg::feed<"x">(m)), of_a_sum = s.run<"twice">(fg::feed<"x">(m + m));
  CHECK(fg::as_eigen(twice) == 2 * m);
  CHECK(fg::as_eigen(of_a_sum) == 4 * m);
  CHECK(s.run<"rows">(fg::feed<"x">(Eigen::Matrix<float, 2, 3>(m))) == fg::ndarray<float, batch>{6, 15});
  const Eigen::VectorXf flat = Eigen::VectorXf::Ones(6);  // as std::vector
  CHECK(s.run<"rows">(fg::feed<"x">(flat)) == fg::ndarray<float, batch>{3, 3});
  s.set<"w">(m);
  CHECK(s.get<"w">() == fg::ndarray<float, 2, 3>(m));
}
