// Tables of text, compiled once.
#include <flowgraph/data/csv_code.hpp>
