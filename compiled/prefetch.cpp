// The threads that make elements of datasets ahead, compiled once.
#include <flowgraph/data/prefetch_code.hpp>
