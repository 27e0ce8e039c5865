// Lines of text, compiled once.
#include <flowgraph/data/lines_code.hpp>
