// What builds and differentiates graphs, compiled once.
#define FLOWGRAPH_IMPLEMENTATION
#include <flowgraph/define.hpp>
