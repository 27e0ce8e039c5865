// The page of a graph, compiled once.
#include <flowgraph/look/html_code.hpp>
