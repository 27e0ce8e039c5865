// Input pipelines: datasets from memory and files, and what can be done with them. Arrays to NumPy, and as
// pictures. docs/data.md.
#pragma once
#include <flowgraph/io/csv.hpp>
#include <flowgraph/io/dataset.hpp>
#include <flowgraph/io/idx.hpp>
#include <flowgraph/io/image.hpp>
#include <flowgraph/io/lines.hpp>
#include <flowgraph/io/memory.hpp>
#include <flowgraph/io/npy.hpp>
#include <flowgraph/io/npz.hpp>
#include <flowgraph/io/save_numpy.hpp>
#include <flowgraph/io/save_png.hpp>
