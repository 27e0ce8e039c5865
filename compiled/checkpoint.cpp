// Saving and restoring sessions, compiled once.
#include <flowgraph/checkpoint/checkpoint_code.hpp>
#include <flowgraph/checkpoint/checkpoint_ops_code.hpp>
#include <flowgraph/checkpoint/checkpoint_series_code.hpp>
