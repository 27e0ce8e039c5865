// Users' functions run on the CPU, and are their own kernels.
#pragma once
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/host_call.hpp>

namespace flowgraph {

template <fixed_string Name, auto Function, class Result, class... In>
struct cpu_kernel<ops::host_call<Name, Function, Result, In...>> {
  static void run(const kernel_args& k) { ops::host_call<Name, Function, Result, In...>::run(k); }
};

}  // namespace flowgraph
