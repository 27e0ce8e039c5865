// How often a loop runs, as far as its graph tells: what it leaves behind for derivatives then has planned memory.
#pragma once
#include <flowgraph/ops/arithmetic.hpp>
#include <flowgraph/ops/comparison.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/size.hpp>

namespace flowgraph::passes {

// Of a loop that counts, i = 0, 1, 2, ... as long as i < n: which of its variables i is; -1: it does not count.
FLOWGRAPH_CONSTEXPR int counter_of(graph_data& g, int owner) {
  const node x = g.nodes[owner];
  const auto at = [&](int id) { return ref{&g, id}; };
  const ref condition = at(g.edges[g.regions[x.first_region].results]);
  if (!condition.is(op_def_of<ops::less>) || !condition.input(0).is(op_def_of<ops::argument>)) return -1;
  if (g.captured_by(condition.input(0).id) >= 0) return -1;
  const int k = static_cast<int>(g.words[condition.input(0).get().attrs]);
  if (k >= x.outputs) return -1;
  const ref next = at(g.edges[g.regions[x.first_region + 1].results + k]);
  if (!ops::is_constant(at(g.edges[x.inputs + k]), 0) || !next.is(op_def_of<ops::add>)) return -1;
  const ref i = next.input(0);
  if (!i.is(op_def_of<ops::argument>) || g.captured_by(i.id) >= 0 || g.words[i.get().attrs] != k) return -1;
  return ops::is_constant(next.input(1), 1) ? k : -1;
}

// Where n is a number or an extent: n. 0: it is neither.
FLOWGRAPH_CONSTEXPR extent counted_turns(graph_data& g, int owner) {
  if (counter_of(g, owner) < 0) return 0;
  const ref condition{&g, g.edges[g.regions[g.nodes[owner].first_region].results]};
  const int outer = g.captured_by(condition.input(1).id);
  const ref n = outer >= 0 ? ref{&g, outer} : condition.input(1);
  if (n.is(op_def_of<ops::size>) && n.attrs<ops::size::attrs>().axes == 1) return n.input(0).shape()[0];
  if (!n.is(op_def_of<ops::constant>)) return 0;
  const double number = ops::number_of(n.type(), n.attrs<ops::constant::attrs>().word);
  return number >= 1 && number <= 1e6 ? static_cast<extent>(number) : 0;
}

// How many turns there can be, as a number or an extent; 0: unknown, or too many to have memory for all of them.
FLOWGRAPH_CONSTEXPR extent most_turns(graph_data& g, int owner) {
  constexpr extent many = 4096;
  const extent counted = counted_turns(g, owner);
  const auto said = detail::attrs_from_words<ops::control_attrs>(g.words.data + g.nodes[owner].attrs).most_turns;
  if (counted < 0 || (counted > 0 && counted <= many)) return counted;
  return said >= 1 && said <= many ? static_cast<extent>(said) : 0;
}

}  // namespace flowgraph::passes
