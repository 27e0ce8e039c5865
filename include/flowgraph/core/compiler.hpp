// What flowgraph asks of a compiler. Every header that users include reads this one first, so that a compiler that is
// too old, or was not told to compile C++20, says that alone and nothing about the files that it would not understand.
#pragma once
#if __cplusplus < 202002L || (!defined(__clang__) && defined(__GNUC__) && __GNUC__ < 12) || \
    (defined(__apple_build_version__) && __clang_major__ < 15) ||                           \
    (defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16)
// A fatal warning ends clang here. Others go on behind an #error, but not behind a file that is not there.
#ifdef __clang__
#pragma clang diagnostic fatal "-W#warnings"
#warning "flowgraph needs C++20 (-std=c++20; with CMake link flowgraph::flowgraph), and g++ 12, clang 16 or later"
#endif
#error "flowgraph needs C++20 (-std=c++20; with CMake link flowgraph::flowgraph), and g++ 12, clang 16 or later"
#include <nothing_more_is_compiled>
#endif
