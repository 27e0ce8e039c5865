// Stacks on the CPU.
#pragma once
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/stacks.hpp>
#include <flowgraph/ops/stack.hpp>

namespace flowgraph {

namespace detail {

inline std::size_t stacked_bytes(const array_view& v) { return static_cast<std::size_t>(v.size() * size_of(v.type)); }

}  // namespace detail

template <>
struct cpu_kernel<ops::stack_push> {
  static void run(const kernel_args& k) {
    const auto number = static_cast<std::uint64_t>(*k.in[0].as<const double>());
    *k.out[0].as<double>() =
        static_cast<double>(k.context->stacks->push(number, k.in[1].data, detail::stacked_bytes(k.in[1])));
  }
};

template <>
struct cpu_kernel<ops::stack_pop> {
  static void run(const kernel_args& k) {
    const auto number = static_cast<std::uint64_t>(*k.in[0].as<const double>());
    *k.out[1].as<double>() =
        static_cast<double>(k.context->stacks->pop(number, k.out[0].data, detail::stacked_bytes(k.out[0])));
  }
};

using stack_kernels = type_list<ops::stack_push, ops::stack_pop>;

}  // namespace flowgraph
