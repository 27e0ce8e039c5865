// The containers that graphs are made of, in constant expressions and at run time, and the errors that carry texts.
#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <flowgraph/core/error.hpp>
#include <flowgraph/core/fixed_string.hpp>
#include <flowgraph/core/hash.hpp>
#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/core/list.hpp>
#include <flowgraph/core/vec.hpp>

namespace fg = flowgraph;
using fg::detail::hash_map;
using fg::detail::list;
using fg::detail::owner;
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

TEST_CASE("a list keeps elements that own what they hold") {
  list<std::string> all{"one", "two"};
  for (int i = 0; i < 100; ++i) all.push_back(all[1] + " of the texts that are too long to lie in place");
  all.push_back(all[0]);  // an element of its own, whether it grows or not
  const list<std::string> copy = all;
  list<std::string> moved = std::move(all);
  CHECK(all.empty());
  CHECK(moved.size() == 103);
  CHECK(copy.back() == "one");
  CHECK(copy[50] == moved[50]);
  moved.resize(3);
  moved.resize(5);
  CHECK(moved[4].empty());
  CHECK(moved[2].starts_with("two of"));
  moved.assign(2, "both");
  moved.append(copy.begin(), copy.begin() + 2);
  CHECK(moved.back() == "two");
  moved.pop_back();
  all = moved;
  moved.clear();
  CHECK(all.size() == 3);
  CHECK(all.front() == "both");
  const list<std::string> none(0);
  CHECK(none.begin() == none.end());
}

TEST_CASE("a list inserts and refuses more than there can be") {
  list<int> all{1, 2, 4};
  all.insert(2, 3);
  all.insert(4, 5);
  all.insert(0, 0);
  for (int i = 0; i < 6; ++i) CHECK(all[static_cast<std::size_t>(i)] == i);
  CHECK_THROWS_AS(all.reserve(static_cast<std::size_t>(-1) / 4), std::bad_alloc);
  CHECK(all.size() == 6);
}

namespace {

struct fails_when_copied {
  std::shared_ptr<int> left;
  explicit fails_when_copied(int n) : left(std::make_shared<int>(n)) {}
  fails_when_copied(const fails_when_copied& o) : left(o.left) {
    if ((*left)-- == 0) throw std::runtime_error("no copy");
  }
  fails_when_copied(fails_when_copied&&) = default;
};

struct base {
  virtual ~base() = default;
};
struct derived : base {
  explicit derived(int& ended) : ended_(ended) {}
  ~derived() override { ++ended_; }
  int& ended_;
};

}  // namespace

TEST_CASE("a list gives back what it has made when an element fails") {
  const fails_when_copied x(2);
  list<fails_when_copied> all;
  all.push_back(x);
  all.push_back(x);
  CHECK_THROWS_AS(all.push_back(x), std::runtime_error);
  CHECK(all.size() == 2);
  CHECK(x.left.use_count() == 3);
  *x.left = 1;
  CHECK_THROWS_AS(list<fails_when_copied>{all}, std::runtime_error);
  CHECK(x.left.use_count() == 3);
}

TEST_CASE("an owner ends what it has once") {
  int ended = 0;
  owner<base> one = fg::detail::make_owner<derived>(ended);
  owner<base> two = std::move(one);
  CHECK(one == nullptr);
  CHECK(ended == 0);
  owner<base>& same = two;
  two = std::move(same);
  CHECK(two != nullptr);
  list<owner<base>> all;
  all.push_back(std::move(two));
  for (int i = 0; i < 20; ++i) all.push_back(fg::detail::make_owner<derived>(ended));
  CHECK(ended == 0);
  all[3] = nullptr;
  CHECK(ended == 1);
  delete all[4].release();
  all = {};
  CHECK(ended == 21);
}
