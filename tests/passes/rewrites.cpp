// fold, simplify and cse: each on graphs that show when it acts and when it must not.
#include <doctest/doctest.h>

#include <bit>

#include <flowgraph/graph/verify.hpp>
#include <flowgraph/passes/cse.hpp>
#include <flowgraph/passes/fold.hpp>
#include <flowgraph/passes/simplify.hpp>
#include "regions.hpp"

namespace fg = flowgraph;
using fg::passes::draft;
using test_ops::constant;
using test_ops::placeholder;
using test_ops::shape;
using test_ops::variable;

namespace {

// build(g) gives the node to fetch; pass(draft) is applied, then dead nodes go.
template <class Build, class Pass>
constexpr draft after(const Build& build, const Pass& pass) {
  fg::graph_data g;
  const int fetch = build(g).id;
  draft d = fg::passes::prune(g.view(), {{&fetch, 1}, {}}, true);
  pass(d);
  fg::passes::prune(d);
  if (fg::verify(d.graph.view()).why != fg::problem::none) d.fault = {fg::problem::invalid_graph, 0};
  return d;
}
template <class Build, class Pass>
constexpr int size_after(const Build& build, const Pass& pass) {
  const draft d = after(build, pass);
  return d.fault.why == fg::problem::none ? d.graph.size() : -1;
}
constexpr auto folded = [](draft& d) { fg::passes::fold(d); };
constexpr auto simplified = [](draft& d) { fg::passes::simplify(d); };
constexpr auto merged = [](draft& d) { fg::passes::cse(d); };

// The number that a graph of constants folds to; -1 if it does not.
template <class Build>
constexpr double folds_to(const Build& build) {
  const draft d = after(build, folded);
  if (d.graph.size() != 1 || d.graph.nodes[0].op->id != fg::ops::constant::id) return -1;
  return std::bit_cast<double>(d.graph.words[d.graph.nodes[0].attrs]);
}

// fold ------------------------------------------------------------------------------------------------------------

static_assert(folds_to([](auto& g) { return constant(g, {}, 2) * constant(g, {}, 3); }) == 6);
static_assert(folds_to([](auto& g) { return (constant(g, {}, 2) + constant(g, {}, 3)) * constant(g, {}, 4); }) == 20);
// The result has the shape that the op gives it, and the value that its type can hold.
static_assert(folds_to([](auto& g) { return constant(g, shape(4, 1), 0.5) + constant(g, shape(3), 0.25); }) == 0.75);
static_assert(after([](auto& g) { return constant(g, shape(4, 1), 1) + constant(g, shape(3), 1); }, folded)
                  .graph.shape_of(0) == shape(4, 3));
static_assert(folds_to([](auto& g) { return constant(g, {}, 1) / constant(g, {}, 3); }) ==
              static_cast<double>(1.0f / 3.0f));
static_assert(folds_to([](auto& g) {
                return fg::emit_as<fg::ops::reshape>(shape(2, 2), fg::dtype::float32, constant(g, shape(4), 7));
              }) == 7);
// Not: what is unknown, what no float holds, what waits.
static_assert(size_after([](auto& g) { return constant(g, {}, 2) * placeholder(g, {}); }, folded) == 3);
static_assert(folds_to([](auto& g) { return constant(g, {}, 3e38) * constant(g, {}, 10); }) == -1);
static_assert(folds_to([](auto& g) { return fg::emit<fg::ops::exp>(constant(g, {}, 1)); }) == -1);
constexpr int folded_waiting() {
  return size_after(
      [](fg::graph_data& g) {
        const fg::ref w = variable(g, {}), a = constant(g, {}, 2);
        g.push_control(fg::emit<fg::ops::assign>(w, a).id);
        const fg::ref b = -a;
        g.pop_controls(1);
        return b;
      },
      folded);
}
static_assert(folded_waiting() == 4);

constexpr bool holds(double value, fg::dtype type, double expected) {
  return fg::passes::representable(value, type) && value == expected;
}
constexpr bool refuses(double value, fg::dtype type) { return !fg::passes::representable(value, type); }
static_assert(holds(0.1, fg::dtype::float64, 0.1) && holds(0.1, fg::dtype::float32, 0.1f));
static_assert(holds(0.1, fg::dtype::float16, 0.0999755859375) && refuses(70000, fg::dtype::float16));
static_assert(holds(0.1, fg::dtype::bfloat16, 0.10009765625));
static_assert(holds(-128, fg::dtype::int8, -128) && refuses(128, fg::dtype::int8) && refuses(0.5, fg::dtype::int8));
static_assert(holds(255, fg::dtype::uint8, 255) && refuses(256, fg::dtype::uint8) && refuses(-1, fg::dtype::uint8));
static_assert(holds(-2147483648.0, fg::dtype::int32, -2147483648.0) && refuses(2147483648.0, fg::dtype::int32));
static_assert(holds(1e15, fg::dtype::int64, 1e15) && refuses(1e18, fg::dtype::int64));
static_assert(holds(1, fg::dtype::boolean, 1) && refuses(2, fg::dtype::boolean));

// simplify --------------------------------------------------------------------------------------------------------

static_assert(size_after([](auto& g) { return placeholder(g, shape(4)) + constant(g, {}, 0); }, simplified) == 1);
static_assert(size_after([](auto& g) { return -(-(-(-placeholder(g, {})))); }, simplified) == 1);
// x + 0 of a scalar x and a matrix 0 is a matrix.
static_assert(size_after([](auto& g) { return placeholder(g, {}) + constant(g, shape(4), 0); }, simplified) == 3);
// A rule may append nodes: they end up before their readers.
static_assert(size_after(
                  [](auto& g) {
                    const fg::ref x = placeholder(g, shape(4));
                    const fg::ref y = fg::emit<fg::ops::pow>(x, constant(g, {}, 2));
                    return -y + y;
                  },
                  simplified) == 4);
// Constant factors are multiplied where that is exact ...
static_assert(size_after([](auto& g) { return (placeholder(g, shape(4)) * 2.0) * 0.5; }, simplified) == 1);
static_assert(size_after([](auto& g) { return constant(g, {}, 4) * (placeholder(g, shape(4)) * 0.1); }, simplified) ==
              3);
// ... and nowhere else, and not across a variable's change.
static_assert(size_after([](auto& g) { return (placeholder(g, shape(4)) * 0.3) * 0.1; }, simplified) == 5);
static_assert(size_after([](auto& g) { return (variable(g, shape(4)) * 2.0) * 0.5; }, simplified) == 5);
constexpr fg::ref reshaped(fg::ref x, const fg::extents& e) { return fg::emit_as<fg::ops::reshape>(e, x.type(), x); }
static_assert(size_after([](auto& g) { return reshaped(reshaped(placeholder(g, shape(4)), shape(2, 2)), shape(1, 4)); },
                         simplified) == 2);
// ... and may have a cheaper form themselves.
static_assert(size_after([](auto& g) { return reshaped(reshaped(placeholder(g, shape(4)), shape(2, 2)), shape(4)); },
                         simplified) == 1);
// In a region too.
static_assert(size_after(
                  [](auto& g) {
                    const fg::ref x = placeholder(g, shape(4));
                    return test_ops::choice(
                        x, [&] { return fg::emit<fg::ops::pow>(x, constant(g, {}, 2)); }, [&] { return -(-x); });
                  },
                  simplified) == 5);
// A read of a variable that changes within the step stays where it is.
constexpr int simplified_read(bool written) {
  return size_after(
      [&](fg::graph_data& g) {
        const fg::ref w = variable(g, {});
        const fg::ref before = w + constant(g, {}, 0);
        if (written) g.push_control(fg::emit<fg::ops::assign>(w, placeholder(g, {})).id);
        const fg::ref y = fg::emit<fg::ops::exp>(before);
        if (written) g.pop_controls(1);
        return y;
      },
      simplified);
}
static_assert(simplified_read(false) == 2);
static_assert(simplified_read(true) == 6);

// cse -------------------------------------------------------------------------------------------------------------

template <class Make>
constexpr int twice(const Make& make) {
  return size_after(
      [&](fg::graph_data& g) {
        const fg::ref x = placeholder(g, shape(4)), y = placeholder(g, shape(4));
        const fg::ref a = make(g, x, y), b = make(g, x, y);
        return a * b;
      },
      merged);
}
static_assert(twice([](auto&, fg::ref x, fg::ref y) { return x - y; }) == 4);
static_assert(twice([](auto& g, fg::ref x, fg::ref) { return x + constant(g, {}, 2); }) == 4);
static_assert(twice([](auto&, fg::ref x, fg::ref) { return fg::emit<test_ops::note>(x); }) == 4);  // an effect
static_assert(twice([](auto& g, fg::ref x, fg::ref) {
                const int both = fg::emit<test_ops::halves>(x).id;
                return fg::ref{&g, both + 1} - fg::ref{&g, both + 2};
              }) == 6);
// Constants of different types and values, however their bits lie.
static_assert([] {
  fg::passes::draft d;
  const auto add = [&](fg::dtype type, double value) {
    const auto words = fg::detail::words_of(fg::ops::constant::attrs{fg::ops::number_word(type, value)});
    d.model.push(d.fetches.push(d.graph.append(fg::op_def_of<fg::ops::constant>, 0, type, nullptr, 0, words.w, 1)));
  };
  for (int t = 1; t <= static_cast<int>(fg::dtype::float64); ++t)
    for (const double value : {0., 1., -1., 2., -2., -0., 0.5, -0.5})
      if (const auto type = static_cast<fg::dtype>(t);
          fg::is_floating(type) || (value == static_cast<int>(value) && std::bit_cast<std::int64_t>(value) << 1 != 0) ||
          std::bit_cast<std::int64_t>(value) == 0)
        add(type, value);  // of integers there is one 0
  return fg::passes::cse(d) == 0;
}());
// a + b is b + a; a - b is not b - a.
constexpr int crossed(bool commutative) {
  return size_after(
      [&](fg::graph_data& g) {
        const fg::ref x = placeholder(g, shape(4)), y = placeholder(g, shape(4));
        return commutative ? (x + y) * (y + x) : (x - y) * (y - x);
      },
      merged);
}
static_assert(crossed(true) == 4 && crossed(false) == 5);
// Attributes, shapes, devices and controls tell nodes apart.
static_assert(size_after(
                  [](fg::graph_data& g) {
                    const fg::ref x = placeholder(g, shape(4, 4));
                    return fg::emit<fg::ops::reduce_sum>({1, 0}, x) + fg::emit<fg::ops::reduce_sum>({2, 0}, x);
                  },
                  merged) == 4);
static_assert(size_after(
                  [](fg::graph_data& g) {
                    const fg::ref x = placeholder(g, shape(4));
                    return reshaped(x, shape(2, 2)) + reshaped(reshaped(x, shape(4, 1)), shape(2, 2));
                  },
                  merged) == 5);
static_assert(size_after(
                  [](fg::graph_data& g) {
                    const fg::ref x = placeholder(g, shape(4)), a = -x;
                    g.device = g.intern_text("/gpu:0");
                    return a * -x;
                  },
                  merged) == 4);
// Reads of a variable before and after an update are different.
constexpr int reads(bool written) {
  return size_after(
      [&](fg::graph_data& g) {
        const fg::ref w = variable(g, shape(4)), before = -w;
        if (written) g.push_control(fg::emit<fg::ops::assign>(w, placeholder(g, shape(4))).id);
        const fg::ref y = before * -w;
        if (written) g.pop_controls(1);
        return y;
      },
      merged);
}
static_assert(reads(false) == 3);
static_assert(reads(true) == 6);
// Equal nodes in different regions stay apart, in one region they don't.
static_assert(size_after(
                  [](fg::graph_data& g) {
                    const fg::ref x = placeholder(g, {});
                    return test_ops::choice(
                        x, [&] { return -x * -x; }, [&] { return -x; });
                  },
                  merged) == 1 + 3 + 2 + 1);

}  // namespace

TEST_CASE("rewrites do at run time what they do for the compiler") {
  CHECK(folds_to([](auto& g) { return constant(g, {}, 2) * constant(g, {}, 3); }) == 6);
  CHECK(simplified_read(true) == 6);
  CHECK(simplified_read(false) == 2);
  CHECK(reads(true) == 6);
  CHECK(crossed(true) == 4);
  CHECK(folded_waiting() == 4);
}
