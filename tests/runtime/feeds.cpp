// What goes wrong with feeds when the program runs, and what it says.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

#include "models.hpp"

namespace fg = flowgraph;
using models::batch;

namespace {

constexpr fg::dim time_steps{"time"};

// The message without the lines that it names: " (...feeds.cpp:41)".
std::string without_lines(std::string text) {
  for (std::size_t at; (at = text.find("feeds.cpp:")) != std::string::npos;) {
    const std::size_t begin = text.rfind(" (", at);
    text.erase(begin, text.find(')', at) + 1 - begin);
  }
  return text;
}

template <class Error, class F>
std::string refusal(fg::problem why, const F& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.why() == why);
    return without_lines(e.what());
  }
  return "no exception";
}

constexpr auto two_inputs = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  g.name("sum", reduce_sum(x) + reduce_sum(cast<float>(y)));
});

constexpr auto derived = fg::define([](fg::graph& g) {
  auto pairs = g.placeholder<float, fg::dim{"2*batch"}, 3>("pairs");
  auto sequence = g.placeholder<float, batch, time_steps>("sequence");
  g.name("pairs_sum", reduce_sum(pairs));
  g.name("sequence_sum", reduce_sum(sequence));
  g.name("joined", reduce_sum(pairs) + reduce_sum(sequence));
  auto twice = g.placeholder<float, fg::dim{"2*time"}>("twice");
  g.name("both", reduce_sum(sequence) + reduce_sum(twice));
});

}  // namespace

TEST_CASE("a feed of the wrong count or shape names itself, what it should be and what it is") {
  fg::session<two_inputs> s;
  const std::vector<std::int64_t> labels(32);
  CHECK(refusal<fg::feed_error>(fg::problem::feed_extents, [&] {
          s.run<"sum">(fg::feed<"x">(std::vector<float>(2047)), fg::feed<"y">(labels));
        }) == "feed \"x\": expected float[batch, 64], got 2047 values");
  CHECK(refusal<fg::feed_error>(fg::problem::feed_extents, [&] {
          const fg::ndarray<float, batch, time_steps> x(batch(32), time_steps(63));
          s.run<"sum">(fg::feed<"x">(x), fg::feed<"y">(labels));
        }) == "feed \"x\": expected float[batch, 64], got float[32, 63]");
  CHECK_THROWS_WITH_AS(s.run<"sum">(fg::feed<"x">(std::vector<float>(2047)), fg::feed<"y">(labels)),
                       doctest::Contains("feeds.cpp:41): expected "), fg::feed_error);
}

TEST_CASE("two feeds that disagree are both named") {
  fg::session<two_inputs> s;
  const auto run = [&](int rows, int labels) {
    return s.run<"sum">(fg::feed<"x">(std::vector<float>(static_cast<std::size_t>(rows) * 64)),
                        fg::feed<"y">(std::vector<std::int64_t>(static_cast<std::size_t>(labels))));
  };
  CHECK(refusal<fg::feed_error>(fg::problem::extent_conflict, [&] { run(32, 31); }) ==
        "\"batch\" is 32 in feed \"x\" and 31 in feed \"y\"");
  CHECK(run(32, 32) == 0);  // the session goes on
  CHECK(refusal<fg::feed_error>(fg::problem::extent_conflict, [&] { run(32, 31); }) !=
        "no exception");  // also after extents were bound
  CHECK(run(5, 5) == 0);
}

TEST_CASE("extents made of names are solved for and checked") {
  fg::session<derived> s;
  CHECK(s.run<"pairs_sum">(fg::feed<"pairs">(std::vector<float>(24, 1.0f))) == 24);
  CHECK(
      refusal<fg::feed_error>(fg::problem::feed_extents,
                              [&] { s.run<"pairs_sum">(fg::feed<"pairs">(std::vector<float>(9))); }) ==
      "feed \"pairs\": expected float[2*batch, 3], got 9 values; more than one extent is unknown: feed an fg::ndarray");
  CHECK(refusal<fg::feed_error>(fg::problem::feed_extents,
                                [&] { s.run<"sequence_sum">(fg::feed<"sequence">(std::vector<float>(12))); }) ==
        "feed \"sequence\": expected float[batch, time], got 12 values; more than one extent is unknown: feed an "
        "fg::ndarray");
  // pairs says batch, then 12 values of the sequence say time; in either order.
  CHECK(s.run<"joined">(fg::feed<"sequence">(std::vector<float>(12, 1.0f)),
                        fg::feed<"pairs">(std::vector<float>(24, 1.0f))) == 36);
  CHECK(refusal<fg::feed_error>(fg::problem::extent_conflict, [&] {
          const fg::ndarray<float, batch, time_steps> sequence(batch(3), time_steps(4));
          s.run<"joined">(fg::feed<"sequence">(sequence), fg::feed<"pairs">(std::vector<float>(24)));
        }) == "\"batch\" is 4 in feed \"pairs\" and 3 in feed \"sequence\"");
  CHECK(refusal<fg::feed_error>(fg::problem::extent_conflict, [&] {
          const fg::ndarray<float, batch, time_steps> sequence(batch(3), time_steps(4));
          s.run<"both">(fg::feed<"twice">(std::vector<float>(6)), fg::feed<"sequence">(sequence));
        }) == "\"2*time\" is 8 in feed \"sequence\" and 6 in feed \"twice\"");
}

TEST_CASE("a graph built at run time refuses feeds with an exception each") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 2>("x");
  auto y = g.name("y", x + 1);
  auto z = g.name("z", g.placeholder<float>("other") + 1);
  auto w = g.variable<float, 2>("w");
  auto update = g.name("update", assign_add(w, 1));
  fg::dynamic_session s(g);
  const std::vector<float> values{1, 2};
  CHECK(refusal<fg::feed_error>(fg::problem::not_fed, [&] { s.run(y); }) ==
        "\"x\": run: a placeholder that the fetches need is not fed: float[batch, 2]");
  CHECK(refusal<fg::feed_error>(fg::problem::fed_in_vain, [&] {
          s.run(y, fg::feed(x, values), fg::feed("other", 1.0f));
        }) == "\"other\": run: no fetch needs this feed: float[]");
  CHECK(refusal<fg::feed_error>(fg::problem::fed_twice, [&] {
          s.run(y, fg::feed(x, values), fg::feed("x", values));
        }) == "\"x\": run: the same tensor is fed twice: float[batch, 2]");
  CHECK(refusal<fg::feed_error>(fg::problem::operation_fed, [&] { s.run(update, fg::feed("update", values)); }) ==
        "\"update\": run: an operation has no value and can't be fed");
  CHECK(refusal<fg::feed_error>(fg::problem::feed_dtype, [&] {
          s.run(y, fg::feed("x", std::vector<double>{1, 2}));
        }) == "feed \"x\": expected float[batch, 2], got double values");
  CHECK(refusal<fg::argument_error>(fg::problem::nothing_fetched, [&] { s.run(fg::feed(x, values)); }) ==
        "run: name at least one tensor or operation to fetch");
  CHECK(refusal<fg::name_error>(fg::problem::unknown_name, [&] { s.run(y, fg::feed("xx", values)); }) ==
        "\"xx\": the model has no tensor or operation of this name; did you mean \"x\"?");
  CHECK(refusal<fg::name_error>(fg::problem::unknown_name, [&] { s.find<float>("gradients"); }) ==
        "\"gradients\": the model has no tensor or operation of this name; it has \"x\", \"y\", \"other\", \"z\", "
        "\"w\", \"update\"");
  CHECK(refusal<fg::feed_error>(fg::problem::feed_extents, [&] { s.set(w, std::vector<float>(3)); }) ==
        "set \"w\": expected float[2], got 3 float values");

  fg::graph another;
  auto foreign = another.placeholder<float>("x");
  CHECK(refusal<fg::graph_error>(fg::problem::different_graphs, [&] { s.run(foreign); }) ==
        "run: a handle belongs to another graph than the session's");
  CHECK(s.run(z, fg::feed("other", 2.0f)) == 3);
}

TEST_CASE("a named extent that nobody binds is named") {
  fg::graph g;
  auto zeros = g.name("zeros", g.constant<float, batch>(0));
  fg::dynamic_session s(g);
  CHECK(refusal<fg::feed_error>(fg::problem::extent_unknown, [&] {
          s.run(zeros);
        }).ends_with(": a named extent that the step needs is not bound by any feed: float[batch]"));
}

TEST_CASE("a feed that nobody reads is needed where it alone says what a name is") {
  fg::graph g;
  auto x = g.placeholder<float, batch>("x");
  auto other = g.placeholder<float, batch, 2>("other");
  auto ones = g.name("ones", fg::ones_like(x));
  auto by_x = g.name("by_x", gradients(reduce_sum(x), x));
  auto twice = g.name("twice", other + expand_dims<1>(ones));
  fg::dynamic_session s(g);
  const std::vector<float> values{1, 2, 3};
  const fg::ndarray<float, batch, 2> pairs{{1, 2}, {3, 4}};
  CHECK(s.run(ones, fg::feed(x, values)) == fg::ndarray<float, batch>{1, 1, 1});
  CHECK(s.run(by_x, fg::feed(x, values)) == fg::ndarray<float, batch>{1, 1, 1});
  CHECK(s.run(ones, fg::feed(other, pairs)) == fg::ndarray<float, batch>{1, 1});
  CHECK(s.run(twice, fg::feed(other, pairs))(1, 1) == 5);
  // One is enough.
  refusal<fg::feed_error>(fg::problem::fed_in_vain, [&] { s.run(ones, fg::feed(x, values), fg::feed(other, pairs)); });
  refusal<fg::feed_error>(fg::problem::fed_in_vain, [&] { s.run(twice, fg::feed(other, pairs), fg::feed(x, values)); });
  refusal<fg::feed_error>(fg::problem::extent_unknown, [&] { s.run(ones); });
  refusal<fg::feed_error>(fg::problem::extent_unknown, [&] { s.run(by_x); });
}

namespace {

constexpr auto of_extents = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch>("x");
  g.name("ones", fg::ones_like(x));
  g.name("by_x", gradients(reduce_sum(x), x));
});
static_assert(fg::plan_of<of_extents, fg::fetch<"by_x">>.fault.why == fg::problem::extent_unknown);
static_assert(of_extents.peak_bytes<"ones">(batch(1000)) >= 0);

}  // namespace

TEST_CASE("the same of a model that the compiler plans") {
  fg::session<of_extents> s;
  const std::vector<float> values{1, 2, 3};
  CHECK(s.run<"ones">(fg::feed<"x">(values)) == fg::ndarray<float, batch>{1, 1, 1});
  CHECK(s.run<"by_x">(fg::feed<"x">(values)) == fg::ndarray<float, batch>{1, 1, 1});
}

TEST_CASE("what a rule requires of a named extent is checked when it is bound") {
  constexpr fg::dim n{"n"}, m{"m"};
  fg::graph g;
  auto x = g.placeholder<float, n>("x");
  auto rows = g.placeholder<float, m, n>("rows");
  auto image = g.placeholder<float, 1, n, n, 1>("image");
  auto filter = g.variable<float, 3, 3, 1, 1>("filter");
  fg::dynamic_session s(g);
  const auto needs = [&](auto y, const std::string& said, auto&&... feeds) {
    const std::string text = refusal<fg::feed_error>(y.second, [&] { s.run(y.first, feeds...); });
    CAPTURE(text);
    CHECK(text.find(said) != text.npos);
  };
  const auto fed = [](int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); };
  const auto top = g.name("top", std::get<0>(fg::top_k<5>(x)));
  needs(std::pair(top, fg::problem::count_out_of_range), "\"top\": top_k", fg::feed(x, fed(3)));
  needs(std::pair(top, fg::problem::count_out_of_range),
        "top_k needs at least 5 where these feeds have \"n\" = 3: ", fg::feed(x, fed(3)));
  CHECK(s.run(top, fg::feed(x, fed(5))).size() == 5);
  needs(std::pair(top, fg::problem::count_out_of_range), "\"n\" = 4", fg::feed(x, fed(4)));  // bound to others before
  CHECK(s.run(top, fg::feed(x, fed(6))).size() == 5);

  const auto in_step = relu(std::get<0>(fg::top_k<2>(rows)) * 2);
  needs(std::pair(in_step, fg::problem::count_out_of_range), "at least 2 where these feeds have \"n\" = 1",
        fg::feed(rows, fg::ndarray<float, m, n>({4, 1})));
  const auto box = fg::slice<fg::from<2>, 3>(x);
  needs(std::pair(box, fg::problem::slice_bounds), "slice needs at least 5 where these feeds have \"n\" = 4",
        fg::feed(x, fed(4)));
  const auto rest = fg::strided_slice<fg::from<4>, fg::to<fg::edge>, fg::by<1>>(x);
  needs(std::pair(rest, fg::problem::slice_bounds), "needs at least 4 where", fg::feed(x, fed(3)));
  CHECK(s.run(rest, fg::feed(x, fed(4))).size() == 0);
  const auto back = fg::strided_slice<fg::from<-3>, fg::to<fg::edge>, fg::by<2>>(x);
  needs(std::pair(back, fg::problem::slice_bounds), "needs at least 3 where", fg::feed(x, fed(2)));
  // Backward a position is an element: what begins at the third needs three, and of none all is none.
  const auto down = fg::strided_slice<fg::from<2>, fg::to<0>, fg::by<-1>>(x);
  needs(std::pair(down, fg::problem::slice_bounds), "needs at least 3 where", fg::feed(x, fed(2)));
  CHECK(s.run(down, fg::feed(x, fed(3))).size() == 2);
  const auto reversed = fg::strided_slice<fg::from<fg::edge>, fg::to<fg::edge>, fg::by<-1>>(x);
  CHECK(s.run(reversed, fg::feed(x, fed(0))).size() == 0);
  CHECK(s.run(reversed, fg::feed(x, fed(2))).size() == 2);
  const auto by_two = fg::strided_slice<fg::from<-2>, fg::to<fg::edge>, fg::by<-2>>(x);
  CHECK(s.run(by_two, fg::feed(x, fed(1))).size() == 0);
  CHECK(s.run(by_two, fg::feed(x, fed(4))).size() == 2);
  const auto square_image = [&](int side) { return fg::ndarray<float, 1, n, n, 1>({1, side, side, 1}); };
  const auto convolved = fg::conv2d<fg::conv{.stride = {2, 2}}>(image, filter);
  const auto pooled =
      fg::avg_pool<fg::pool{.window = {3, 2}, .stride = {2, 2}, .padding = fg::padded(1, 0, 0, 0)}>(image);
  needs(std::pair(convolved, fg::problem::conv_window), "conv2d needs at least 3 where these feeds have \"n\" = 2",
        fg::feed(image, square_image(2)));
  needs(std::pair(pooled, fg::problem::conv_window), "avg_pool needs at least 2 where these feeds have \"n\" = 1",
        fg::feed(image, square_image(1)));
  needs(std::pair(gradients(reduce_sum(convolved), filter), fg::problem::conv_window), "needs at least 3 where",
        fg::feed(image, square_image(2)));
}

TEST_CASE("a device that the machine does not have is refused") {
  fg::graph g;
  auto x = g.placeholder<float>("x");
  const auto device = g.device("/gpu:0");
  auto y = g.name("y", relu(x));
  fg::dynamic_session s(g);
  CHECK(refusal<fg::plan_error>(fg::problem::no_device, [&] { s.run(y, fg::feed(x, 1.0f)); }) ==
        "\"y\": the graph asks for a device that this session does not have: float[]: \"/gpu:0\"");
}
