// Every kernel of the library, instantiated once for all tests.
#include <flowgraph/runtime/builtin_kernels.hpp>

template const flowgraph::detail::kernel_map& flowgraph::detail::builtin_kernels<void>();
