// How a plan uses an op, and the function that computes it: what is known of kernels without their code.
#pragma once
#include <cstdint>

#include <flowgraph/ops/send_recv.hpp>
#include <flowgraph/plan/kernel_args.hpp>
#include <flowgraph/plan/plan.hpp>

namespace flowgraph {

// out[i] = f(in[0][i], in[1][i], ...) for i below n. out may be one of the inputs if their elements have one size.
using tile_function = void (*)(void* out, const void* const* in, int n);

// The types of an op's first operands and of its first result.
struct kernel_use {
  static constexpr int max_types = 4;

  std::uint64_t op = 0;
  dtype in[max_types]{};
  dtype out = dtype::none;

  constexpr bool operator==(const kernel_use&) const = default;
};

// One of the two, or none: there is no kernel. The kind is kept beside the pointers because comparing a pointer to a
// function with null is no constant under g++'s sanitizers.
struct bound_kernel {
  enum class kind { none, kernel, tile };

  kind is = kind::none;
  kernel_function kernel = nullptr;
  tile_function tile = nullptr;  // of an element-wise op

  constexpr bound_kernel() = default;
  constexpr bound_kernel(kernel_function f) : is(kind::kernel), kernel(f) {}
  constexpr bound_kernel(tile_function f) : is(kind::tile), tile(f) {}
  constexpr explicit operator bool() const { return is != kind::none; }
};

namespace detail {

// A region of element-wise steps that was compiled from the model: elements first to last - 1 of its value.
using region_function = void (*)(const array_view* operands, const array_view& value, void* to, std::int64_t first,
                                 std::int64_t last);

using kernel_finder = bound_kernel (*)(const kernel_use&);

// Who knows the kernels of a plan; null where there is nobody.
struct kernel_source {
  kernel_finder own = nullptr;                           // compiled with the model
  kernel_finder library = nullptr;                       // of the library's ops, asked first
  region_function (*region)(int instruction) = nullptr;  // compiled with the model: null where there is none
};

constexpr kernel_use use_of(const plan_view& p, const instruction& x) {
  kernel_use use{x.op->id, {}, dtype::none};
  for (int i = 0; i < x.n_operands && i < kernel_use::max_types; ++i) use.in[i] = p.operands[x.operands + i].type;
  if (x.n_outputs > 0) use.out = p.operands[x.operands + x.n_operands].type;
  return use;
}

// The type of a register of a program.
constexpr dtype register_type(const plan_view& p, const instruction& x, int r) {
  return r < 0 ? p.operands[x.operands - 1 - r].type : p.steps[p.programs[x.program].steps + r].type;
}

constexpr kernel_use use_of(const plan_view& p, const instruction& x, const program_step& s) {
  kernel_use use{s.op->id, {}, s.type};
  for (int i = 0; i < s.n_inputs && i < kernel_use::max_types; ++i)
    use.in[i] = register_type(p, x, p.registers[s.inputs + i]);
  return use;
}

// Does it take a value, or the news that something is done, from one device to another?
constexpr bool carries(const instruction& x) { return x.op->id == ops::send::id || x.op->id == ops::recv::id; }

}  // namespace detail
}  // namespace flowgraph
