// fg::fit: training in one call. Needs what <flowgraph/checkpoint.hpp> needs.
#pragma once
#include <flowgraph/train/fit.hpp>
