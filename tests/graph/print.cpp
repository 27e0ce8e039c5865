// The printed form: goldens of passes depend on every byte of it.
#include <doctest/doctest.h>

#include <string>

#include <flowgraph/graph/print.hpp>
#include <passes/regions.hpp>

namespace fg = flowgraph;
using test_ops::shape;

TEST_CASE("a line for each node: operands, type, attributes, controls, name, device") {
  fg::graph_data g;
  const fg::ref x = test_ops::placeholder(g, shape(g.symbols.intern("batch"), 4));
  g.name(x.id, "x");
  const fg::ref w = test_ops::variable(g, shape(4, 2));
  g.device = g.intern_text("/gpu:0");
  const fg::ref y = fg::emit<fg::ops::matmul>(fg::ops::matmul::attrs{0, 0}, x, w);
  g.name(y.id, "y");
  g.name(y.id, "again");
  g.device = 0;
  const fg::ref u = fg::emit<fg::ops::assign>(w, w);
  g.push_control(u.id);
  const fg::ref s = fg::emit<fg::ops::reduce_sum>({3, 0}, y) * 0.25;
  g.pop_controls(1);
  fg::emit<test_ops::halves>(s);
  CHECK(fg::to_text(g.view()) ==
        "%0 = placeholder() : float[batch, 4] \"x\"\n"
        "%1 = variable() : float[4, 2] {0, 0, 0, 1}\n"
        "%2 = matmul(%0, %1) : float[batch, 2] {0, 0} \"y\" @/gpu:0\n"
        "%3 = assign(%1, %1)\n"
        "%4 = reduce_sum(%2) : float {3, 0} after %3\n"
        "%5 = constant() : float {0.25} after %3\n"
        "%6 = mul(%4, %5) : float after %3\n"
        "%7 = halves(%6) : float\n"
        "%8 = output(%7) : float {0}\n"
        "%9 = output(%7) : float {1}\n");
}

TEST_CASE("a region stands indented before its owner, one inside another") {
  fg::graph_data g;
  const fg::ref x = test_ops::placeholder(g, {});
  test_ops::choice(
      x,
      [&] {
        return test_ops::choice(
            x, [&] { return -x; }, [&] { return x; });
      },
      [&] { return x + x; });
  CHECK(fg::to_text(g.view()) ==
        "%0 = placeholder() : float\n"
        "  region 1:\n"
        "    %1 = argument() : float {1}\n"
        "      region 3:\n"
        "        %2 = argument() : float {1}\n"
        "        %3 = neg(%2) : float\n"
        "        give %3\n"
        "      region 4:\n"
        "        %4 = argument() : float {1}\n"
        "        give %4\n"
        "    %5 = cond(%1, %1) : float {-1, 0, 0} regions 3 to 4\n"
        "    give %5\n"
        "  region 2:\n"
        "    %6 = argument() : float {1}\n"
        "    %7 = add(%6, %6) : float\n"
        "    give %7\n"
        "%8 = cond(%0, %0) : float {-1, 0, 0} regions 1 to 2\n");
}

TEST_CASE("a graph that a pass made has its model's names") {
  fg::graph_data model, g;
  const fg::ref x = test_ops::placeholder(model, {});
  model.name((x + x).id, "sum");
  const fg::ref y = test_ops::placeholder(g, {});
  fg::emit<fg::ops::square>(y);
  const int ids[] = {0, 1};
  CHECK(fg::to_text(g.view(), {model.view(), {ids, 2}, {"", "here"}}) ==
        "%0 = placeholder() : float\n"
        "%1 = square(%0) : float \"sum\" here\n");
}

TEST_CASE("the picture has a box for each node, a frame for each region, and dashed control edges") {
  fg::graph_data g;
  const fg::ref x = test_ops::placeholder(g, {});
  g.name(x.id, "x");
  const fg::ref u = fg::emit<test_ops::note>(x);
  g.push_control(u.id);
  test_ops::choice(
      x, [&] { return -x; }, [&] { return x; });
  g.pop_controls(1);
  const std::string dot = fg::to_dot(g.view());
  CHECK(dot.find("n0 [label=\"placeholder\\nx\\nfloat\", style=filled, fillcolor=lightgrey];") != std::string::npos);
  CHECK(dot.find("  subgraph cluster_1 {\n") != std::string::npos);
  CHECK(dot.find("n0 -> n1;") != std::string::npos);
  CHECK(dot.find("n1 -> n5 [style=dashed];") != std::string::npos);
  CHECK(dot.substr(dot.size() - 2) == "}\n");
}

TEST_CASE("what a node asks for is its colour") {
  fg::graph_data g;
  const fg::ref x = test_ops::placeholder(g, {});
  g.device = g.intern_text("/gpu:0");
  -(-x);
  g.device = g.intern_text("/job:ps");
  -x;
  const std::string dot = fg::to_dot(g.view());
  CAPTURE(dot);
  const auto has = [&](const std::string& text) { return dot.find(text) != std::string::npos; };
  CHECK(has("d0 [label=\"/gpu:0\", shape=ellipse, style=filled, colorscheme=set312, fillcolor=1];"));
  CHECK(has("d1 [label=\"/job:ps\", shape=ellipse, style=filled, colorscheme=set312, fillcolor=2];"));
  CHECK(has("n0 [label=\"placeholder\\nfloat\", style=filled, fillcolor=lightgrey];"));
  CHECK(has("n2 [label=\"neg\\nfloat\", style=filled, colorscheme=set312, fillcolor=1];"));
  CHECK(has("n3 [label=\"neg\\nfloat\", style=filled, colorscheme=set312, fillcolor=2];"));
}

TEST_CASE("whatever a name has, it does not end its quotation marks") {
  fg::graph_data g;
  const fg::ref x = test_ops::placeholder(g, {});
  g.name(x.id, "a\"b\\c\nd\te");
  CHECK(fg::to_dot(g.view()).find("[label=\"placeholder\\na\\\"b\\\\c\\nd e\\nfloat\"") != std::string::npos);
  CHECK(fg::to_text(g.view()) == "%0 = placeholder() : float \"a\\\"b\\\\c\\nd e\"\n");
}
