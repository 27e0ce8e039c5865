// Graphs, plans and arrays as text, compiled once.
#define FLOWGRAPH_IMPLEMENTATION
#include <flowgraph/arrays/print_code.hpp>
#include <flowgraph/graph/print_code.hpp>
#include <flowgraph/plan/print_code.hpp>
