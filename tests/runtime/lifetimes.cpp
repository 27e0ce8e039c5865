// What is handed out and taken in without a name: feeds own what is moved in, and nothing points into an array that is
// gone. The address sanitizer sees what these tests alone do not.
#include <doctest/doctest.h>

#include <Eigen/Core>
#include <array>
#include <flowgraph.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim batch{"batch"};
using matrix = fg::ndarray<float, batch, 3>;
using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 3>("x");
  auto n = g.placeholder<float>("n");
  g.name("twice", x * 2);
  g.name("times", x * n);
  g.variable<float, 2, 3>("w", fg::init::ones());
});

// Each is fed twice after the line that made it, moved and copied between.
template <class Feed>
void check_feed(Feed f) {
  fg::session<model> s;
  const auto on_heap = std::make_unique<Feed>(std::move(f));
  const std::vector<float> overwrites(4096, -1.0f);
  for (int i = 0; i < 2; ++i) CHECK(s.run<"twice">(*on_heap) == matrix{{2, 4, 6}, {8, 10, 12}});
}
template <class Feed>
void check_copied_feed(const Feed& f) {
  auto copy = std::make_unique<Feed>(f);
  auto second = std::make_unique<Feed>(*copy);
  copy = nullptr;
  check_feed(std::move(*second));
}

row_major numbers() {
  row_major m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  return m;
}

// What an element of a temporary array is.
template <class A>
using element_of = decltype(std::declval<A>()[0]);
static_assert(std::is_same_v<element_of<fg::ndarray<float, 3>>, float>);
static_assert(std::is_same_v<element_of<const fg::ndarray<float, 3>>, float>);
static_assert(std::is_same_v<element_of<fg::ndarray<float, 3>&>, float&>);
static_assert(std::is_same_v<element_of<matrix>, fg::ndarray<float, 3>>);
static_assert(std::is_same_v<element_of<matrix&>, fg::ndview<float, 3>>);
static_assert(std::is_same_v<decltype(std::declval<matrix>()(0, 0)), float>);
static_assert(std::is_same_v<decltype(std::declval<matrix>().dims()), std::array<std::int64_t, 2>>);
static_assert(std::is_same_v<decltype(std::declval<matrix>().reshape<6>()), fg::ndarray<float, 6>>);

}  // namespace

TEST_CASE("a feed owns what is moved in") {
  check_copied_feed(fg::feed<"x">(std::vector<float>{1, 2, 3, 4, 5, 6}));
  check_copied_feed(fg::feed<"x">(std::array<float, 6>{1, 2, 3, 4, 5, 6}));
  check_copied_feed(fg::feed<"x">(matrix{{1, 2, 3}, {4, 5, 6}}));
  check_copied_feed(fg::feed<"x">(numbers()));
  check_copied_feed(fg::feed<"x">({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}));
  check_copied_feed(fg::feed<"x">({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}));
  float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  auto moved = fg::feed<"x">(std::move(rows));
  rows[0][0] = -1;
  check_copied_feed(moved);
  auto kept = std::vector<float>{1, 2, 3, 4, 5, 6};
  auto f = fg::feed<"x">(std::move(kept));
  kept = std::vector<float>(6, -1.0f);
  check_copied_feed(f);
}

TEST_CASE("a feed computes an expression of Eigen's at once, whatever it is of") {
  check_feed(fg::feed<"x">(numbers().topRows(2)));
  check_feed(fg::feed<"x">(numbers() * 1.0f));
  check_feed(fg::feed<"x">(Eigen::MatrixXf(numbers())));
}

TEST_CASE("a feed borrows what has a name") {
  std::vector<float> x = {0, 0, 0};
  const auto f = fg::feed<"x">(x);
  x = {1, 2, 3};
  fg::session<model> s;
  CHECK(s.run<"twice">(f) == matrix{{2, 4, 6}});
  const std::span<const float> view(x);
  CHECK(s.run<"twice">(fg::feed<"x">(std::span<const float>(view))) == matrix{{2, 4, 6}});
}

TEST_CASE("numbers, names and handles of feeds last, too") {
  fg::session<model> s;
  const auto n = fg::feed<"n">(3.0f);
  const auto x = fg::feed<"x">(matrix{{1, 2, 3}});
  CHECK(s.run<"times">(n, x) == matrix{{3, 6, 9}});

  fg::graph g;
  auto h = g.placeholder<float, 2>("a_name_that_is_longer_than_what_a_string_has_room_for");
  auto doubled = h * 2;
  fg::dynamic_session d(g);
  const auto by_name =
      fg::feed(std::string("a_name_that_is_longer_than_") + "what_a_string_has_room_for", std::vector<float>{1, 2});
  const auto by_handle = fg::feed(h, std::vector<float>{1, 2});
  const auto in_braces =
      fg::feed(std::string("a_name_that_is_longer_than_") + "what_a_string_has_room_for", {1.0f, 2.0f});
  const auto handle_in_braces = fg::feed(h, {1.0f, 2.0f});
  CHECK(d.run(doubled, by_name) == fg::ndarray<float, 2>{2, 4});
  CHECK(d.run(doubled, in_braces) == fg::ndarray<float, 2>{2, 4});
  CHECK(d.run(doubled, handle_in_braces) == fg::ndarray<float, 2>{2, 4});
  CHECK(d.run(doubled, by_handle) == fg::ndarray<float, 2>{2, 4});
}

TEST_CASE("variables are set to numbers in braces, and to rows of them") {
  using weights = fg::ndarray<float, 2, 3>;
  fg::session<model> s;
  s.set<"w">({1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
  CHECK(s.get<"w">() == weights{{1, 2, 3}, {4, 5, 6}});
  s.set<"w">({{4.f, 5.f, 6.f}, {1.f, 2.f, 3.f}});
  CHECK(s.get<"w">() == weights{{4, 5, 6}, {1, 2, 3}});
  fg::graph g;
  auto w = g.variable<float, 2>("w");
  fg::dynamic_session d(g);
  d.set(w, {3.f, 4.f});
  CHECK(d.get(w) == fg::ndarray<float, 2>{3, 4});
}

TEST_CASE("initial values own what is moved in") {
  fg::graph g;
  const auto initial = fg::init::from(std::vector<float>{1, 2, 3});
  const std::vector<float> overwrites(3, -1.0f);
  auto w = g.variable<float, 3>("w", initial);
  fg::dynamic_session s(g);
  CHECK(s.get(w) == fg::ndarray<float, 3>{1, 2, 3});
}

TEST_CASE("elements and rows of arrays without a name are copies") {
  fg::session<model> s;
  const auto x = fg::feed<"x">(matrix{{1, 2, 3}, {4, 5, 6}});
  const auto row = s.run<"twice">(x)[1];
  const auto& element = s.run<"twice">(x)(1, 2);
  const auto& first = s.get<"w">()[1][2];
  const auto part = std::get<1>(s.run<"times", "twice">(x, fg::feed<"n">(2.0f)))[0];
  const auto flat = s.run<"twice">(x).reshape<6>();
  const auto& dims = s.run<"twice">(x).dims();
  fg::function<model, "twice"> twice;
  const auto& called = twice(matrix{{1, 2, 3}})[0];
  const auto& evaluated = fg::eval([](fg::graph& g) { return g.constant<float, 2>({1, 2}); })[1];
  const std::vector<float> overwrites(4096, -1.0f);
  CHECK(row == fg::ndarray<float, 3>{8, 10, 12});
  CHECK(element == 12);
  CHECK(first == 1);
  CHECK(part == fg::ndarray<float, 3>{2, 4, 6});
  CHECK(flat == fg::ndarray<float, 6>{2, 4, 6, 8, 10, 12});
  CHECK(dims[0] == 2);
  CHECK(called == fg::ndarray<float, 3>{2, 4, 6});
  CHECK(evaluated == 2);
  float sum = 0;
  for (const float v : s.run<"twice">(x)) sum += v;
  CHECK(sum == 42);
}
