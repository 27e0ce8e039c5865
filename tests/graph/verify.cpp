// What verify accepts, and each way in which a graph can be malformed.
#include <doctest/doctest.h>

#include <flowgraph/graph/verify.hpp>
#include <passes/regions.hpp>

namespace fg = flowgraph;
using test_ops::choice;
using test_ops::placeholder;
using test_ops::shape;

namespace {

// x + y, the halves of it, and a choice between two regions.
struct sample {
  fg::graph_data g;
  int sum = 0, both = 0, owner = 0;

  constexpr sample() {
    const fg::ref x = placeholder(g, shape(4)), y = placeholder(g, shape(4));
    const fg::ref z = x + y;
    sum = z.id;
    both = fg::emit<test_ops::halves>(z).id;
    owner = choice(
                y, [&] { return -x; }, [&] { return x * y; })
                .id;
  }
};

// The problem that a change makes.
template <class Change>
constexpr fg::graph_fault after(const Change& change) {
  sample s;
  change(s);
  return fg::verify(s.g.view());
}
constexpr bool malformed(const fg::graph_fault& f) { return f.why == fg::problem::invalid_graph; }

static_assert(after([](sample&) {}).why == fg::problem::none);
static_assert(fg::verify(fg::graph_data().view()).why == fg::problem::none);

// Edges.
static_assert(malformed(after([](sample& s) { s.g.edges[s.g.nodes[s.sum].inputs] = s.sum; })));
static_assert(after([](sample& s) { s.g.edges[s.g.nodes[s.sum].inputs] = s.both; }).node == 2);
static_assert(malformed(after([](sample& s) { s.g.edges[s.g.nodes[s.sum].inputs] = -1; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.owner].n_inputs = 99; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.owner].n_control = 99; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.sum].n_attrs = 99; })));

// Shapes and types: the rule's own complaint where it has one.
static_assert(malformed(after([](sample& s) { s.g.nodes[s.sum].shape = 0; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.sum].shape = 99; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.sum].type = fg::dtype::float64; })));
static_assert(after([](sample& s) { s.g.nodes[0].type = fg::dtype::float64; }).why == fg::problem::dtypes_differ);
static_assert(after([](sample& s) { s.g.nodes[0].shape = s.g.intern_shape(shape(3)); }).why == fg::problem::broadcast);

// Several results.
static_assert(malformed(after([](sample& s) { s.g.nodes[s.both].outputs = 3; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.both].outputs = 1; })));
static_assert(malformed(after([](sample& s) { s.g.words[s.g.nodes[s.both + 1].attrs] = 1; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.both + 1].shape = 0; })));

// Regions: nodes read their own region, arguments stand for inputs of the owner, which comes last.
static_assert(malformed(after([](sample& s) { s.g.nodes[s.sum].region = 1; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.sum].region = 9; })));
static_assert(malformed(after([](sample& s) { s.g.regions[1].owner = s.sum; })));
static_assert(malformed(after([](sample& s) { s.g.regions[1].parent = 2; })));
static_assert(malformed(after([](sample& s) { s.g.edges[s.g.regions[2].results] = s.sum; })));
static_assert(malformed(after([](sample& s) { s.g.nodes[s.owner].first_region = 2; })));
static_assert(malformed(after([](sample& s) {
  for (fg::node& n : s.g.nodes)
    if (n.op->id == fg::ops::argument::id) s.g.words[n.attrs] = 7;
})));

}  // namespace

TEST_CASE("verify names the first node that is wrong") {
  sample s;
  CHECK(fg::verify(s.g.view()).node == -1);
  s.g.nodes[s.sum].shape = 0;
  CHECK(fg::verify(s.g.view()).node == s.sum);
  CHECK(fg::verify(s.g.view()).why == fg::problem::invalid_graph);
}
