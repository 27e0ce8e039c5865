// From an op and the types it is used with to the function that computes it. session<model> asks while it is compiled,
// for what its plan uses; the table of a dynamic_session is filled from lists of ops.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <flowgraph/kernels/copy.hpp>
#include <flowgraph/kernels/kernel_record.hpp>
#include <flowgraph/kernels/kernel_types.hpp>
#include <flowgraph/kernels/region_mode.hpp>
#include <flowgraph/ops/comparison.hpp>
#include "in_float.hpp"
#include "number_tile.hpp"
#if FLOWGRAPH_COMPILED_REGIONS
#include "elementwise.hpp"
#endif

namespace flowgraph {

namespace detail {

template <class Op>
concept has_function = requires { typename Op::function; };
template <class Op>
concept has_typed_kernel = requires { typename cpu_kernel<Op>::types; };
// Ops without a value, such as a group, need no element type: static void run(const kernel_args&).
template <class Op>
concept has_plain_kernel = requires(const kernel_args& k) { cpu_kernel<Op>::run(k); };

// Is the kernel's function for T what it must be? A user's may not be.
template <class Op, class T>
concept runs_type = requires { static_cast<void (*)(const kernel_args&)>(&cpu_kernel<Op>::template run<T>); };
template <class Op>
concept some_kernel = requires { sizeof(cpu_kernel<Op>); };

constexpr bool is_view(trait t) {
  return (static_cast<std::uint32_t>(t) & static_cast<std::uint32_t>(trait::view)) != 0;
}

// The operand whose type decides; -1: the result's does.
template <class Op>
constexpr int type_operand() {
  if constexpr (requires { cpu_kernel<Op>::type_operand; })
    return cpu_kernel<Op>::type_operand;
  else if constexpr (has_function<Op>)
    return count_operands<typename Op::function>() - 1;
  else
    return 0;
}
template <class Op>
constexpr dtype deciding_type(const kernel_use& use) {
  return deciding_type(use, type_operand<Op>());
}

template <class T, class... List>
constexpr bool contains(type_list<List...>) {
  return (std::is_same_v<T, List> || ...);
}

template <class Op, class T>
constexpr bool computes_type() {
  if constexpr (has_function<Op>)
    return ask_operand_types<Op>(dtype_of<T>) != operand_types::refused;
  else if constexpr (has_typed_kernel<Op>)
    return contains<T>(typename cpu_kernel<Op>::types{}) || (is_16_bit_float<T> && computes_in_float<Op>);
  else
    return false;
}

template <class Op, class T>
void elementwise_tile(void* out, const void* const* in, int n);  // elementwise.hpp

// Regions: part of the type, because files of a program may differ in it.
template <class Op, class T, region_mode Regions = regions_of_this_file>
constexpr bound_kernel bind_type() {
  if constexpr (!computes_type<Op, T>())
    return {};
  else if constexpr (has_function<Op> && Regions == region_mode::compiled)
    return &elementwise_tile<Op, T>;
  else if constexpr (has_function<Op>)
    return &number_tile<Op, T>;
  else if constexpr (contains<T>(typename cpu_kernel<Op>::types{}))
    return &cpu_kernel<Op>::template run<T>;
  else
    return &run_in_float<Op, T>;
}

// What kernel_types.hpp says of the library's ops.
template <class Op>
constexpr kernel_types kernel_types_of() {
  kernel_types t{.op = Op::id};
  if constexpr (std::is_same_v<Op, ops::cast> || has_plain_kernel<Op>) {
    t.types = (std::uint32_t{1} << dtype_count) - 1;
  } else {
    t.deciding = type_operand<Op>();
    [&t]<class... T>(type_list<T...>) {
      (..., (t.types |= computes_type<Op, T>() ? types_of(dtype_of<T>) : 0));
    }(all_types{});
  }
  return t;
}

template <class Op, class T>
constexpr bool kernel_fits() {
  if constexpr (contains<T>(typename cpu_kernel<Op>::types{}))
    return runs_type<Op, T>;
  else
    return computes_type<Op, T>();
}
// What of a kernel that was found not to fit is wrong.
template <class Op, class T>
constexpr problem kernel_problem() {
  if constexpr (!some_kernel<Op> || has_function<Op>)
    return problem::no_kernel;
  else if constexpr (!has_typed_kernel<Op>)
    return problem::kernel_members;
  else
    return computes_type<Op, T>() ? problem::kernel_members : problem::no_kernel;
}

// Whether bind_use finds a kernel. Instantiates none.
template <kernel_use Use>
constexpr bool has_kernel() {
  using op = op_by_id<Use.op>;
  if constexpr (std::is_same_v<op, ops::cast> || has_plain_kernel<op>)
    return true;
  else if constexpr (has_function<op>)
    return computes_type<op, type_of<deciding_type<op>(Use)>>();
  else if constexpr (has_typed_kernel<op>)
    return kernel_fits<op, type_of<deciding_type<op>(Use)>>();
  else
    return is_view(op::traits);
}

// Only the kernel of this one use is instantiated.
template <kernel_use Use, region_mode Regions = regions_of_this_file>
constexpr bound_kernel bind_use() {
  using op = op_by_id<Use.op>;
  if constexpr (std::is_same_v<op, ops::cast>)
    return &cast_tile<type_of<Use.out>, type_of<Use.in[0]>>;
  else if constexpr (has_plain_kernel<op>)
    return &cpu_kernel<op>::run;
  else if constexpr (has_function<op> || has_typed_kernel<op>)
    return bind_type<op, type_of<deciding_type<op>(Use)>, Regions>();
  else if constexpr (is_view(op::traits))
    return &copy_kernel;
  else
    return {};
}

template <class To, class... From>
constexpr std::array<tile_function, dtype_count> casts_to(type_list<From...>) {
  std::array<tile_function, dtype_count> row{};
  ((row[static_cast<std::size_t>(dtype_of<From>)] = &cast_tile<To, From>), ...);
  return row;
}
template <class... To>
constexpr std::array<std::array<tile_function, dtype_count>, dtype_count> cast_table(type_list<To...> all) {
  std::array<std::array<tile_function, dtype_count>, dtype_count> table{};
  ((table[static_cast<std::size_t>(dtype_of<To>)] = casts_to<To>(all)), ...);
  return table;
}
template <class Types>
inline constexpr auto all_casts = cast_table(Types{});

template <class Op, region_mode Regions = regions_of_this_file>
constexpr kernel_record make_record() {
  kernel_record r;
  r.deciding = [](const kernel_use& use) { return deciding_type<Op>(use); };
  if constexpr (std::is_same_v<Op, ops::cast>) {
    r.casts = all_casts<all_types>.data();
  } else if constexpr (has_plain_kernel<Op>) {
    r.by_type.fill(&cpu_kernel<Op>::run);
  } else if constexpr (has_function<Op> || has_typed_kernel<Op>) {
    [&r]<class... T>(type_list<T...>) {
      ((r.by_type[static_cast<std::size_t>(dtype_of<T>)] = bind_type<Op, T, Regions>()), ...);
    }(all_types{});
  } else if constexpr (is_view(Op::traits)) {
    r.by_type.fill(&copy_kernel);
  }
  return r;
}

}  // namespace detail
}  // namespace flowgraph
