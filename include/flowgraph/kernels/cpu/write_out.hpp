// Before a loop of a few turns over what has to be in registers: g++ writes it out, which clang does by itself.
#pragma once

#if defined(__clang__)
#define FLOWGRAPH_WRITE_OUT
#else
#define FLOWGRAPH_WRITE_OUT _Pragma("GCC unroll 8")
#endif
