// The one printed form of a graph, a line for each node, and the same as a picture for Graphviz. Stable: tests compare
// it byte for byte.
#pragma once
#include <string>
#include <vector>

#include <flowgraph/core/other_half.hpp>
#include "node.hpp"

namespace flowgraph {

// Names and devices for a graph that a pass made: node i is node ids[i] of the model. Notes are put at the end of the
// line of each node. A picture has each node in the colour of its place, an index into the places; without them, of
// what it asks for.
struct print_labels {
  graph_view model;
  detail::slice<int> ids;
  std::vector<std::string> notes;
  std::vector<int> place = {};
  std::vector<std::string> places = {};
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string to_text(const graph_view& g, const print_labels& labels = {});
// For Graphviz: dot -Tsvg.
FLOWGRAPH_OTHER_HALF std::string to_dot(const graph_view& g, const print_labels& labels = {});

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "print_code.hpp"
#endif
