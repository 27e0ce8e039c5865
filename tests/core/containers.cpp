// The containers that graphs are made of, in constant expressions and at run time, and the errors that carry texts.
#include <doctest/doctest.h>

#include <string>

#include <flowgraph/core/error.hpp>
#include <flowgraph/core/fixed_string.hpp>
#include <flowgraph/core/hash.hpp>
#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/core/vec.hpp>

namespace fg = flowgraph;
using fg::detail::hash_map;
using fg::detail::vec;

constexpr int sum_after_growing() {
  vec<int> v;
  for (int i = 0; i < 200; ++i) v.push(i);
  v.push(v[199]);  // an element of its own, while it grows
  vec<int> copy = v;
  vec<int> moved = static_cast<vec<int>&&>(v);
  copy = moved;
  moved = vec<int>(2);
  int sum = v.size() + moved.size();
  for (const int i : copy) sum += i;
  return sum;
}
static_assert(sum_after_growing() == 199 * 100 + 199 + 2);

constexpr bool appends() {
  vec<char> v;
  const int first = v.append("hello", 5), second = v.append(" you", 4);
  return first == 0 && second == 5 && std::string_view(v.data, 9) == "hello you";
}
static_assert(appends());

constexpr bool finds_what_was_set() {
  hash_map m;
  for (int i = 0; i < 500; ++i) m.set(fg::detail::mix(1, static_cast<unsigned>(i)), i);
  for (int i = 0; i < 500; ++i)
    if (m.find(fg::detail::mix(1, static_cast<unsigned>(i))) != i) return false;
  m.set(fg::detail::mix(1, 7), 70);
  return m.find(fg::detail::mix(1, 7)) == 70 && m.find(12345) == -1 && hash_map{}.find(1) == -1;
}
static_assert(finds_what_was_set());

TEST_CASE("keys that fall into the same slot are told apart") {
  hash_map m;
  for (std::uint64_t i = 0; i < 40; ++i) m.set(i << 40, static_cast<int>(i));
  for (std::uint64_t i = 0; i < 40; ++i) CHECK(m.find(i << 40) == static_cast<int>(i));
}

static_assert(fg::detail::hash("ab") == fg::detail::hash("b", fg::detail::hash("a")));
static_assert(fg::detail::to_fixed<3>("batch").view() == "bat");

TEST_CASE("an error joins its parts and survives copies") {
  const fg::feed_error e(fg::problem::feed_dtype, {"feed \"x\": ", "expected float"});
  fg::error copy = e;
  CHECK(std::string(copy.what()) == "feed \"x\": expected float");
  CHECK(copy.why() == fg::problem::feed_dtype);
  copy = fg::error(fg::problem::none, "another");
  CHECK(std::string(copy.what()) == "another");
  copy = *&copy;
  CHECK(std::string(copy.what()) == "another");
  CHECK_THROWS_AS(throw e, fg::error);
}
