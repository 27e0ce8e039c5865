// What runs a step, compiled once: all of a session that does not depend on its model.
#define FLOWGRAPH_IMPLEMENTATION
#include <flowgraph/engine/engine_api_code.hpp>
