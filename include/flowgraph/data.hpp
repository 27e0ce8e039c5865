// Input pipelines: datasets from memory and files, and what can be done with them. Arrays to NumPy, and as
// pictures. docs/data.md.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/data/csv.hpp>
#include <flowgraph/data/dataset.hpp>
#include <flowgraph/data/from_memory.hpp>
#include <flowgraph/data/lines.hpp>
#include <flowgraph/formats/idx.hpp>
#include <flowgraph/formats/image.hpp>
#include <flowgraph/formats/npy.hpp>
#include <flowgraph/formats/npz.hpp>
#include <flowgraph/formats/save_numpy.hpp>
#include <flowgraph/formats/save_png.hpp>
