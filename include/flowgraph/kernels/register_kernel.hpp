// Kernels of users' ops for graphs that are built when the program runs, which find them by op and type. A
// session<model> needs no registration.
#pragma once
#include <cstdint>

#include <flowgraph/core/other_half.hpp>
#include "cpu/binding.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void add_user_kernel(std::uint64_t op, const kernel_record& r);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// One line behind the kernel: inline const fg::register_kernel<my_op> my_op_kernel;
template <class Op>
struct register_kernel {
  register_kernel() { detail::add_user_kernel(Op::id, detail::make_record<Op>()); }
};

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "user_kernels.hpp"
#endif
