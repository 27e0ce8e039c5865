// Event files for TensorBoard. Apart from <flowgraph.hpp>: it needs protozero, and libpng for images.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/look/summary_writer.hpp>
