// What a kernel is, and the element types that kernels come in.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/core/symbols.hpp>
#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph {

template <class... T>
struct type_list {};

// Specialised once for each op that the CPU computes, in kernels/cpu/:
//   template <> struct cpu_kernel<ops::matmul> {
//     using types = type_list<float, double>;             // element types of the operand that decides
//     static constexpr int type_operand = 0;              // optional: which input decides; -1: the result
//     static constexpr bool in_float = true;              // optional: half and bfloat16, too, through float
//     template <class T> static void run(const kernel_args& k);
//   };
// Without inputs the result decides. Element-wise ops need none: their scalar function is their kernel.
template <class Op>
struct cpu_kernel;

using floating_types = type_list<float, double>;
using number_types = type_list<float, double, std::int8_t, std::uint8_t, std::int32_t, std::int64_t>;
// Numbers, with those that have no arithmetic of their own: for kernels that round each result once all the same.
using rounded_types = type_list<float, double, half, bfloat16, std::int8_t, std::uint8_t, std::int32_t, std::int64_t>;
using all_types = type_list<bool, std::int8_t, std::uint8_t, std::int32_t, std::int64_t, half, bfloat16, float, double>;

}  // namespace flowgraph
