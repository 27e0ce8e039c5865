// The library as a C++20 module, for compilers that have them (clang 19): import flowgraph; is all of <flowgraph.hpp> and
// <flowgraph/limits.hpp>, with the other half compiled elsewhere. docs/compiled.md says how.
module;
// What the headers below include of the standard library stays outside of the module.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <chrono>
#include <climits>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numbers>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>
#include <version>

#ifndef FLOWGRAPH_COMPILED
#error "the module flowgraph has the other half of the library elsewhere: define FLOWGRAPH_COMPILED"
#endif

export module flowgraph;

// As extern "C++" all of it belongs to no module, so that files which include a header and files which import this one share it.
export extern "C++" {
#include <flowgraph.hpp>
#include <flowgraph/limits.hpp>
}
