// Every kernel of the library, instantiated once for all tests, beside all that a program may include.
#include <flowgraph.hpp>
#include <flowgraph/runtime/builtin_kernels.hpp>

template const flowgraph::detail::kernel_map& flowgraph::detail::builtin_kernels<void>();
