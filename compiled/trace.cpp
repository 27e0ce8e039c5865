// Traces of steps, compiled once.
#include <flowgraph/look/trace_code.hpp>
