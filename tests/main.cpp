// The one translation unit that holds doctest's implementation and main, shared by all test executables.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
