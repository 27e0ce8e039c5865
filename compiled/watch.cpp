// Values that are shown whenever a step runs, compiled once.
#include <flowgraph/look/watch_code.hpp>
