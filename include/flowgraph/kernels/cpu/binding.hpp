// From an op and the types it is used with to the function that computes it. session<model> asks while it is compiled,
// for what its plan uses; the table of a dynamic_session is filled from lists of ops.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "elementwise.hpp"
#include "in_float.hpp"

namespace flowgraph {

// How a plan uses an op: the types of its first operands and of its first result.
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

// The same bytes at another place: an op that is a view runs only where its operand's memory is about to change.
inline void copy_kernel(const kernel_args& k) {
  const auto bytes = static_cast<std::size_t>(k.out[0].size()) * static_cast<std::size_t>(size_of(k.out[0].type));
  if (bytes > 0) std::memcpy(k.out[0].data, k.in[0].data, bytes);
}

template <class Op>
concept has_function = requires { typename Op::function; };
template <class Op>
concept has_typed_kernel = requires { typename cpu_kernel<Op>::types; };
// Ops without a value, such as a group, need no element type: static void run(const kernel_args&).
template <class Op>
concept has_plain_kernel = requires(const kernel_args& k) { cpu_kernel<Op>::run(k); };

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
  constexpr int k = type_operand<Op>();
  if constexpr (k < 0)
    return use.out;
  else
    return use.in[k] == dtype::none ? use.out : use.in[k];
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
constexpr bound_kernel bind_type() {
  if constexpr (!computes_type<Op, T>())
    return {};
  else if constexpr (has_function<Op>)
    return &elementwise_tile<Op, T>;
  else if constexpr (contains<T>(typename cpu_kernel<Op>::types{}))
    return &cpu_kernel<Op>::template run<T>;
  else
    return &run_in_float<Op, T>;
}

// Whether bind_use finds a kernel. Instantiates none.
template <kernel_use Use>
constexpr bool has_kernel() {
  using op = op_by_id<Use.op>;
  if constexpr (std::is_same_v<op, ops::cast> || has_plain_kernel<op>)
    return true;
  else if constexpr (has_function<op> || has_typed_kernel<op>)
    return computes_type<op, type_of<deciding_type<op>(Use)>>();
  else
    return is_view(op::traits);
}

// Only the kernel of this one use is instantiated.
template <kernel_use Use>
constexpr bound_kernel bind_use() {
  using op = op_by_id<Use.op>;
  if constexpr (std::is_same_v<op, ops::cast>)
    return &cast_tile<type_of<Use.out>, type_of<Use.in[0]>>;
  else if constexpr (has_plain_kernel<op>)
    return &cpu_kernel<op>::run;
  else if constexpr (has_function<op> || has_typed_kernel<op>)
    return bind_type<op, type_of<deciding_type<op>(Use)>>();
  else if constexpr (is_view(op::traits))
    return &copy_kernel;
  else
    return {};
}

inline constexpr int dtype_count = static_cast<int>(dtype::float64) + 1;

// All kernels of an op.
struct kernel_record {
  dtype (*deciding)(const kernel_use&) = nullptr;
  std::array<bound_kernel, dtype_count> by_type{};                // of the deciding type
  const std::array<tile_function, dtype_count>* casts = nullptr;  // [to][from], of cast alone

  bound_kernel find(const kernel_use& use) const {
    if (casts != nullptr) return casts[static_cast<std::size_t>(use.out)][static_cast<std::size_t>(use.in[0])];
    return by_type[static_cast<std::size_t>(deciding(use))];
  }
};

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

template <class Op>
constexpr kernel_record make_record() {
  kernel_record r;
  r.deciding = &deciding_type<Op>;
  if constexpr (std::is_same_v<Op, ops::cast>) {
    r.casts = all_casts<all_types>.data();
  } else if constexpr (has_plain_kernel<Op>) {
    r.by_type.fill(&cpu_kernel<Op>::run);
  } else if constexpr (has_function<Op> || has_typed_kernel<Op>) {
    [&r]<class... T>(type_list<T...>) {
      ((r.by_type[static_cast<std::size_t>(dtype_of<T>)] = bind_type<Op, T>()), ...);
    }(all_types{});
  } else if constexpr (is_view(Op::traits)) {
    r.by_type.fill(&copy_kernel);
  }
  return r;
}

}  // namespace detail
}  // namespace flowgraph
