// What runs a step, compiled once: all of a session that does not depend on its model.
#define FLOWGRAPH_IMPLEMENTATION
#define FLOWGRAPH_GRAPH_ELSEWHERE  // graph.cpp
#include <flowgraph/engine/engine_api_code.hpp>
