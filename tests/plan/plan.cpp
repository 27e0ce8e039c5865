// A plan as data: frozen into arrays of its own size, bound to numbers, printed; and what each pass said about itself.
#include <doctest/doctest.h>

#include <string>

#include <flowgraph/define.hpp>
#include <flowgraph/passes/pass_log.hpp>
#include <flowgraph/plan/bind.hpp>
#include <flowgraph/plan/frozen_plan.hpp>
#include <flowgraph/plan/print.hpp>

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim batch{"batch"};
inline constexpr fg::dim steps{"steps"};

inline constexpr auto linear = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  auto w = g.variable<float, 4, 4>("w");
  auto y = tanh(matmul(x, w) * 2.0f);
  g.name("y", y);
  g.name("train", assign_sub(w, matmul<fg::transpose_a>(x, y)));
});

constexpr fg::plan_data make() {
  const fg::graph_view m = linear.view();
  const int fetches[] = {m.find("y"), m.find("train")}, feeds[] = {m.find("x")};
  const std::string_view device = "/cpu:0";
  return fg::passes::plan(m, {{fetches, 2}, {feeds, 1}}, {&device, 1});
}

// The same tables, wherever they are.
constexpr fg::plan_counts counts = make().counts();
constexpr auto frozen = fg::freeze<counts>(make().view());
static_assert(frozen.view().instructions.size() == 3 && frozen.view().instructions[0].program == 1);
static_assert(frozen.view().inputs(frozen.view().instructions[0])[1].where == fg::storage::variable);
static_assert(frozen.view().outputs(frozen.view().instructions[0])[0].where == fg::storage::slot);
static_assert(frozen.view().attrs(frozen.view().instructions[1])[0] == 1);
static_assert(frozen.view().next(frozen.view().instructions[0]).size() > 0);
static_assert(frozen.view().fault.why == fg::problem::none);

// Slots begin at multiples of 64 bytes, one after the other.
constexpr fg::binding three[] = {batch(3)};
constexpr fg::binding other[] = {steps(3)};
static_assert(fg::peak_bytes(frozen.view(), {three, 1}) == 64 + 64);
static_assert(fg::bind(frozen.view(), {three, 1}).offsets[1] == 64);
static_assert(fg::bind(frozen.view(), {other, 1}).why == fg::problem::extent_unknown);
static_assert(fg::bind_symbols(frozen.view(), {three, 1})[0] == 3);

// A plan that can't be made says why, and has nothing else.
constexpr fg::plan_data unfed() {
  const int fetch = linear.view().find("y");
  const std::string_view device = "/cpu:0";
  return fg::passes::plan(linear.view(), {{&fetch, 1}, {}}, {&device, 1});
}
static_assert(unfed().fault.why == fg::problem::not_fed && unfed().fault.node == 0 && unfed().instructions.size() == 0);

}  // namespace

TEST_CASE("a plan prints its memory, its instructions and who waits for whom") {
  CHECK(fg::to_text(frozen.view(), linear.view()) ==
        "device 0 = /cpu:0\n"
        "f0 = feed : float[batch, 4] \"x\"\n"
        "v0 = variable : float[4, 4] \"w\" written\n"
        "c0 = 2 : float\n"
        "s0 = 16 * (batch) bytes\n"
        "s1 = 64 bytes\n"
        "0: matmul(f0, v0, c0) -> s0 : float[batch, 4] {0, 0} then [0 = mul(y, c); 1 = tanh(0)] \"y\"\n"
        "1: matmul(f0, s0) -> s1 : float[4, 4] {1, 0} after 0\n"
        "2: assign_sub(v0, s1) \"train\" after 0, 1\n"
        "fetch s0 -\n");
}

TEST_CASE("what is made at run time is what the compiler made") {
  CHECK(fg::to_text(make().view(), linear.view()) == fg::to_text(frozen.view(), linear.view()));
}

TEST_CASE("each pass says what it changed, how much is left, and how long it took") {
  const fg::graph_view m = linear.view();
  const int fetch = m.find("y"), feed = m.find("x");
  const std::string_view device = "/cpu:0";
  std::string text;
  fg::passes::plan(m, {{&fetch, 1}, {&feed, 1}}, {&device, 1}, {}, fg::passes::pass_log(text));
  CHECK(text.find("prune: 2 changed, 6 nodes, ") == 0);
  CHECK(text.find("\nfold: (unchanged), 6 nodes, ") != std::string::npos);
  CHECK(text.find("\nfuse: 1 changed, 6 nodes, ") != std::string::npos);
}
