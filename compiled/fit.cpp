// The loop of fg::fit, compiled once.
#include <flowgraph/train/each_batch_code.hpp>
#include <flowgraph/train/fit_code.hpp>
