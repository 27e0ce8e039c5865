// fg::fit: training in one call. Needs what <flowgraph/checkpoint.hpp> needs.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/train/fit.hpp>
