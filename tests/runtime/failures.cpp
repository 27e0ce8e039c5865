// Steps that fail: they say which node did, harm nothing that others have, and the session goes on.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <tuple>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim n{"n"};

// The last instruction is behind a branch; another one is in the middle.
constexpr auto divided(fg::graph& g) {
  auto x = g.placeholder<std::int64_t>("x");
  auto y = cond(
      equal(x, g.constant<std::int64_t>(0)), [&] { return g.constant<std::int64_t>(7); }, [&] { return x + x; });
  auto last = g.name("last", floordiv(y, x));
  g.name("middle", cond(
                       greater(last, g.constant<std::int64_t>(0)), [&] { return last; }, [&] { return -last; }));
  return last;
}
inline constexpr auto branching = fg::define([](fg::graph& g) { divided(g); });

// Row after row of an array that is large enough to leave the step with its memory.
inline constexpr auto rows = fg::define([](fg::graph& g) {
  auto turns = g.placeholder<std::int64_t>("turns");
  auto value = g.placeholder<float>("value");
  auto [turn, filled] = fg::while_loop([&](auto i, auto) { return less(i, turns); },
                                       [&](auto i, auto all) {
                                         auto row = exp(fg::fill<float, 1024>(g, 0.0f) + value);
                                         return std::tuple(i + g.constant<std::int64_t>(1), fg::write(all, i, row));
                                       },
                                       g.constant<std::int64_t>(0), fg::tensor_array<float, 64, 1024>(g));
  g.name("filled", filled);
});

inline constexpr auto cube = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, n>("x");
  auto all = broadcast_to<n, n, n>(x) * 2.0f;
  g.name("sum", reduce_sum(fg::cumsum<2>(all)));
});

std::string message_of(const std::exception& e) { return e.what(); }

}  // namespace

TEST_CASE("an error behind or before control flow names its own node, and the session goes on") {
  fg::session<branching> s({.threads = 1});
  fg::graph g;
  auto last = divided(g);
  fg::dynamic_session d(g, {.threads = 1});
  const std::int64_t zero = 0, two = 2;
  for (int i = 0; i < 2; ++i) {
    for (const auto& run : {std::function<void()>([&] { s.run<"last">(fg::feed<"x">(zero)); }),
                            std::function<void()>([&] { s.run<"middle">(fg::feed<"x">(zero)); }),
                            std::function<void()>([&] { d.run(last, fg::feed("x", zero)); })}) {
      try {
        run();
        FAIL("x is 0");
      } catch (const fg::execution_error& e) {
        CHECK(message_of(e).find("\"last\"") == 0);
        CHECK(message_of(e).find("floordiv") != std::string::npos);
      }
    }
    CHECK(s.run<"last">(fg::feed<"x">(two)) == 2);
    CHECK(d.run(last, fg::feed("x", two)) == 2);
  }
}

TEST_CASE("a row that is not there fails the step and leaves what earlier steps returned") {
  fg::session<rows> s({.threads = 1});
  const std::int64_t all = 64, more = 65;
  const auto first = s.run<"filled">(fg::feed<"turns">(all), fg::feed<"value">(0.0f));
  const std::vector<float> kept(first.data(), first.data() + first.size());
  for (int i = 0; i < 3; ++i)
    CHECK_THROWS_AS(s.run<"filled">(fg::feed<"turns">(more), fg::feed<"value">(1.0f)), fg::execution_error);
  CHECK(std::equal(kept.begin(), kept.end(), first.data()));
  CHECK(s.run<"filled">(fg::feed<"turns">(all), fg::feed<"value">(0.0f))(63, 1023) == 1.0f);
}

TEST_CASE("a step that is too large for memory fails, and a smaller one runs") {
  fg::session<cube> s({.threads = 1});
  const std::vector<float> small{1, 2}, large(1 << 20, 1.0f);
  CHECK(s.run<"sum">(fg::feed<"x">(small)) == 32);
  // 2^62 bytes: no number of bytes counts them.
  CHECK_THROWS_AS(s.run<"sum">(fg::feed<"x">(large)), fg::feed_error);
  CHECK(s.run<"sum">(fg::feed<"x">(small)) == 32);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__has_feature)
  const std::vector<float> none_has(30000, 1.0f);  // 10^14 bytes: nobody has them
  CHECK_THROWS_AS(s.run<"sum">(fg::feed<"x">(none_has)), std::bad_alloc);
  CHECK(s.run<"sum">(fg::feed<"x">(small)) == 32);
#endif
}

TEST_CASE("an extent that is negative says so") {
  static constexpr auto tail = fg::define([](fg::graph& g) {
    auto x = g.placeholder<float, n>("x");
    g.name("y", reduce_sum(fg::slice<fg::from<5>, n - 5>(x)));
  });
  fg::session<tail> s;
  CHECK(s.run<"y">(fg::feed<"x">(std::vector<float>{1, 1, 1, 1, 1, 1, 2})) == 3);
  try {
    s.run<"y">(fg::feed<"x">(std::vector<float>{1, 1, 1}));
    FAIL("n - 5 is -2");
  } catch (const fg::feed_error& e) {
    CHECK(message_of(e) == "\"n-5\" is negative with the extents of these feeds");
  }
}
