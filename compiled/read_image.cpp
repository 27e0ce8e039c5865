// Arrays out of PNG and JPEG files, compiled once.
#include <flowgraph/formats/image_code.hpp>
