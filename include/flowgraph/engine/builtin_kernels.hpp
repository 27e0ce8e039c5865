// The table of every kernel of the library, for graphs that are built when the program runs. It takes a compiler most
// of a minute. With FLOWGRAPH_EXTERN_KERNELS defined, files that run a dynamic_session only refer to it;
// flowgraph::compiled has it (compiled/choose.cpp), or one file of the program includes this header and instantiates
// it:
//   template const flowgraph::detail::kernel_map& flowgraph::detail::builtin_kernels<void>();
#pragma once
#include <flowgraph/kernels/cpu/all.hpp>
#include "kernel_table.hpp"

namespace flowgraph::detail {

template <class... Op>
kernel_map make_table(type_list<Op...>) {
  return {{Op::id, make_record<Op>()}...};
}

template <class Tag>
const kernel_map& builtin_kernels() {
  static const kernel_map map = make_table(all_kernels{});
  return map;
}

}  // namespace flowgraph::detail
