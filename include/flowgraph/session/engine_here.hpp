// engine_api.hpp for who calls it: with the engine itself, where it is compiled in this file.
#pragma once
#include "engine_api.hpp"
#if FLOWGRAPH_OTHER_HALF_HERE
#include <flowgraph/engine/engine_api_code.hpp>
#endif
