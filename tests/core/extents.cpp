// Named extents: arithmetic on texts and on the numbers that stand for them.
#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

#include <flowgraph/core/dim.hpp>
#include <flowgraph/core/symbols.hpp>

namespace fg = flowgraph;
using fg::detail::canonical;
using fg::detail::evaluate_extent;

inline constexpr fg::dim batch{"batch"};
inline constexpr fg::dim steps{"time"};

// One spelling, however an extent was computed.
static_assert(canonical<2 * batch>() == fg::dim{"2*batch"});
static_assert(canonical<batch * 2>() == fg::dim{"2*batch"});
static_assert(canonical<batch + batch>() == fg::dim{"2*batch"});
static_assert(canonical<steps * batch>() == fg::dim{"batch*time"});
static_assert(canonical<steps - 1>() == fg::dim{"time-1"});
static_assert(canonical<fg::dim{"1+time*2-time"}>() == fg::dim{"time+1"});
static_assert(canonical<(batch + 1) * (steps - 1)>() == fg::dim{"batch*time-batch+time-1"});
static_assert(canonical<(steps + 1) / 2>() == fg::dim{"(time+1)/2"});
static_assert(canonical<((steps + 1) / 2 + 3) / 2>() == fg::dim{"(time+3)/4+1"}, "floors of floors are one floor");
static_assert(canonical<(steps * 4) / 2>() == fg::dim{"2*time"}, "an exact division leaves no atom");
static_assert(canonical<fg::dim{"(time*2)/2"}>() == fg::dim{"time"});
static_assert(canonical<std::int64_t{7}>() == 7 && std::same_as<decltype(canonical<std::int64_t{7}>()), int>);

constexpr bool numbers_stand_for_texts() {
  fg::symbols s;
  const fg::extent b = s.intern("batch"), t = s.intern("time");
  return b < 0 && t < 0 && b != t && s.intern("batch") == b &&        // equal texts, equal numbers
         s.sub(s.add(b, 3), 3) == b && s.mul(b, t) == s.mul(t, b) &&  // however computed
         s.mul(b, 1) == b && s.sub(b, b) == 0 && s.mul(b, 0) == 0 &&  // back to plain numbers
         s.floordiv(s.mul(b, 6), 3) == s.add(b, b) && s.text(s.mul(t, b)) == "batch*time" &&
         s.product({3, {2, b, 5}}) == s.mul(10, b);
}
static_assert(numbers_stand_for_texts());

constexpr auto at_3_and_4 = [](std::string_view name) -> std::int64_t {
  return name == "batch" ? 3 : name == "time" ? 4 : -1;
};
static_assert(evaluate_extent("2*batch+(time+1)/2", at_3_and_4) == 8);
static_assert(evaluate_extent("batch*time-batch+time-1", at_3_and_4) == 12);
static_assert(evaluate_extent("((time+1)/2+3)/2", at_3_and_4) == 2);
// What is larger than any memory stays so: undefined behaviour would not be a constant expression.
constexpr bool stops_at_the_end() {
  constexpr fg::extent most = INT64_MAX, large = fg::extent{1} << 40;
  fg::symbols s;
  const fg::extent b = s.intern("batch");
  const fg::extents all{3, {large, large, large}};
  return s.mul(large, large) == most && s.add(most, 5) == most && s.product(all) == most &&
         fg::element_count(all) == most && s.text(s.mul(s.mul(b, large), large)) == "9223372036854775807*batch" &&
         s.mul(most, 0) == 0;
}
static_assert(stops_at_the_end());

// Products of sums are as long as they are; more factors than have room are larger than anything.
constexpr bool no_length_is_lost() {
  fg::symbols s;
  fg::extent product = 1, all = 1;
  std::int64_t expected = 1;
  for (const char* name : {"batch", "channels", "height", "width"}) product = s.mul(product, s.add(s.intern(name), 5));
  for (int i = 0; i < 4; ++i) expected *= 12;
  const auto seven = [](std::string_view) -> std::int64_t { return 7; };
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) all = s.mul(all, s.intern(name));
  return s.text(product).size() > 95 && evaluate_extent(s.text(product), seven) == expected &&
         evaluate_extent(s.text(all), seven) == 7 * 7 * 7 * 7 * 7 * 7 * 7 * 7 &&
         evaluate_extent(s.text(s.mul(all, s.intern("i"))), seven) == INT64_MAX;
}
static_assert(no_length_is_lost());
static_assert(evaluate_extent("batch*batch", [](std::string_view) { return INT64_MAX / 2; }) == INT64_MAX);
static_assert(evaluate_extent("9223372036854775807*batch+9*time", at_3_and_4) == INT64_MAX);
static_assert(evaluate_extent("99999999999999999999*batch", at_3_and_4) == INT64_MAX);
static_assert(evaluate_extent("width", at_3_and_4) == -1, "an unbound name has no number");

TEST_CASE("what is no extent is refused") {
  for (const char* text : {"", "+", "2*", "batch time", "a//2", "(a+1", "(a+1)/0", "a/2", "a b"})
    CHECK_FALSE(fg::detail::extent_polynomial(text).ok());
}

TEST_CASE("a binding remembers its name") {
  constexpr fg::binding b = batch(32);
  CHECK(b.name == "batch");
  CHECK(b.value == 32);
}
