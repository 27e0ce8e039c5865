// What a snippet of the documentation may use without including it.
#pragma once

#include <array>
#include <cstdint>
#include <flowgraph.hpp>
#include <flowgraph/fmt.hpp>
#include <flowgraph/limits.hpp>
#include <string>
#include <vector>

namespace fg = flowgraph;
