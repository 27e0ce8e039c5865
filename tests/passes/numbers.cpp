// Folding and simplifying keep numbers: random graphs of ops that can be folded, in which every tensor holds one number
// in all its elements.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include <flowgraph/passes/pipeline.hpp>
#include "regions.hpp"

namespace fg = flowgraph;
namespace ops = flowgraph::ops;

namespace {

double number(const fg::op_def& op, const std::vector<double>& in) {
  return op.is(fg::trait::has_fold) ? op.fold(in.data()) : in[0];  // reshape, broadcast_to, identity
}
double fed(int node) { return 0.25 * node - 1; }

std::vector<double> run_graph(const fg::graph_view& g) {
  std::vector<double> at;
  for (int i = 0; i < g.size(); ++i) {
    std::vector<double> in;
    for (const int e : g.inputs(i)) in.push_back(at[static_cast<std::size_t>(e)]);
    const fg::op_def& op = *g.nodes[i].op;
    at.push_back(op.id == ops::placeholder::id ? fed(i)
                 : op.id == ops::constant::id  ? std::bit_cast<double>(g.attrs(i)[0])
                                               : number(op, in));
  }
  return at;
}

std::vector<double> run_plan(const fg::plan_view& p) {
  std::vector<double> slots(static_cast<std::size_t>(p.slots.size()));
  const auto read = [&](const fg::operand& o) {
    if (o.where == fg::storage::feed) return fed(p.feeds[o.index].node);
    return o.where == fg::storage::constant ? std::bit_cast<double>(p.constants[o.index].word)
                                            : slots[static_cast<std::size_t>(o.index)];
  };
  for (const fg::instruction& x : p.instructions) {
    std::vector<double> in, steps;
    for (const fg::operand& o : p.inputs(x)) in.push_back(read(o));
    double result = 0;
    if (x.program == 0) {
      result = x.op->id == ops::constant::id ? std::bit_cast<double>(p.attrs(x)[0]) : number(*x.op, in);
    } else {
      for (const fg::program_step& s : p.steps_of(p.programs[x.program])) {
        std::vector<double> registers;
        for (int k = 0; k < s.n_inputs; ++k) {
          const int r = p.registers[s.inputs + k];
          registers.push_back(r >= 0 ? steps[static_cast<std::size_t>(r)] : in[static_cast<std::size_t>(-1 - r)]);
        }
        steps.push_back(number(*s.op, registers));
      }
      result = steps.back();
    }
    slots[static_cast<std::size_t>(p.outputs(x)[0].index)] = result;
  }
  std::vector<double> fetched;
  for (const fg::operand& o : p.fetches) fetched.push_back(read(o));
  return fetched;
}

}  // namespace

TEST_CASE("folding and simplifying keep numbers") {
  int replaced = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t n) { return random() % n; };
    fg::graph_data g;
    std::vector<fg::ref> values;
    const fg::extents shapes[] = {{}, test_ops::shape(4), test_ops::shape(4, 4)};
    for (const fg::extents& e : shapes) {
      values.push_back(test_ops::placeholder(g, e, fg::dtype::float64));
      for (const double c : {0.0, 1.0, 2.0}) {
        const auto words = fg::detail::words_of(ops::constant::attrs{ops::literal_word(c)});
        values.push_back({&g, g.append(fg::op_def_of<ops::constant>, g.intern_shape(e), fg::dtype::float64, nullptr, 0,
                                       words.w, 1)});
      }
    }
    for (int i = 0; i < 25; ++i) {
      const fg::ref x = values[pick(values.size())], y = values[pick(values.size())];
      switch (pick(10)) {
        case 0:
          values.push_back(-x);
          break;
        case 1:
          values.push_back(x + y);
          break;
        case 2:
          values.push_back(x - y);
          break;
        case 3:
          values.push_back(x * y);
          break;
        case 4:
          values.push_back(x / 2.0);
          break;
        case 5:
          values.push_back(fg::emit<ops::maximum>(x, y));
          break;
        case 6:
          values.push_back(fg::emit<ops::relu>(x));
          break;
        case 7:
          values.push_back(fg::emit<ops::identity>(x));
          break;
        case 8:
          values.push_back(fg::emit_as<ops::reshape>(x.rank() == 1 ? test_ops::shape(4, 1) : x.shape(), x.type(), x));
          break;
        default:
          values.push_back(fg::emit_as<ops::broadcast_to>(x.rank() == 0 ? shapes[2] : x.shape(), x.type(), x));
      }
    }
    std::vector<int> fetches;
    for (const fg::ref r : values)
      if (pick(3) == 0) fetches.push_back(r.id);
    if (fetches.empty()) continue;
    const std::vector<double> all = run_graph(g.view());
    std::vector<double> expected;
    for (const int f : fetches) expected.push_back(all[static_cast<std::size_t>(f)]);
    const std::string_view device = "/cpu:0";
    const auto log = [&](std::string_view pass, int changed, auto&&...) {
      if (pass == "fold" || pass == "simplify") replaced += changed;
    };
    for (const bool on : {false, true}) {
      const fg::passes::options o{
          .fold = on, .simplify = on, .cse = on, .fuse = on, .verify = true, .allow_unfed = true};
      const fg::plan_data p =
          fg::passes::plan(g.view(), {{fetches.data(), static_cast<int>(fetches.size())}, {}}, {&device, 1}, o, log);
      REQUIRE(p.fault.why == fg::problem::none);
      const std::vector<double> got = run_plan(p.view());
      for (std::size_t k = 0; k < expected.size(); ++k) CHECK(got[k] == doctest::Approx(expected[k]).epsilon(1e-12));
    }
  }
  CHECK(replaced > 1000);  // the passes had something to do
}
