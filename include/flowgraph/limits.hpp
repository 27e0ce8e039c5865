// fg::limits and fg::within: steps and waits that end at a deadline or at a request to stop. Apart from
// <flowgraph.hpp>: the clocks and stop tokens of the standard library would cost every other file a tenth of its time.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/session/limits.hpp>
