// What the passes did, compiled once.
#include <flowgraph/look/explain_code.hpp>
