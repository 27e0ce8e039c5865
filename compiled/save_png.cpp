// Arrays into PNG files, compiled once.
#include <flowgraph/formats/save_png_code.hpp>
