// Arrays into NumPy's files, compiled once.
#include <flowgraph/formats/save_numpy_code.hpp>
