// Graphs, plans and arrays as text, compiled once.
#define FLOWGRAPH_IMPLEMENTATION
#define FLOWGRAPH_GRAPH_ELSEWHERE  // graph.cpp
#include <flowgraph/arrays/print_code.hpp>
#include <flowgraph/graph/print_code.hpp>
#include <flowgraph/plan/print_code.hpp>
