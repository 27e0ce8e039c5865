// Arrays out of IDX files and NumPy's, compiled once. Each file of this folder that has nothing of the engine in it
// becomes an object of its own: a program links those whose functions it calls.
#include <flowgraph/formats/idx_code.hpp>
#include <flowgraph/formats/npy_code.hpp>
#include <flowgraph/formats/npz_code.hpp>
