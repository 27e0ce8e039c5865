// Event files for TensorBoard. Apart from <flowgraph.hpp>: it needs protozero, and libpng for images.
#pragma once
#include <flowgraph/look/summary_writer.hpp>
