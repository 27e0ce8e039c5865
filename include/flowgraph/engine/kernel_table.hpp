// Kernels of a graph that is built when the program runs: found by op and type in a table. The library's are there;
// a user's op adds its own with one line behind its kernel:
//   inline const fg::register_kernel<my_op> my_op_kernel;
#pragma once
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include <flowgraph/kernels/cpu/binding.hpp>

namespace flowgraph {

namespace detail {

using kernel_map = std::unordered_map<std::uint64_t, kernel_record>;

#ifdef FLOWGRAPH_COMPILED
inline constexpr bool kernels_are_compiled = true;
#else
inline constexpr bool kernels_are_compiled = false;
#endif

// The library's own, defined in builtin_kernels.hpp. A template, so that only who runs a dynamic_session instantiates
// every kernel; a program of many files may do that in one of them, see there.
template <class Tag = void>
const kernel_map& builtin_kernels();

template <class Tag = void>
bound_kernel find_builtin(const kernel_use& use) {
  const kernel_map& own = builtin_kernels<Tag>();
  const auto found = own.find(use.op);
  return found == own.end() ? bound_kernel{} : found->second.find(use);
}

struct user_kernels {
  std::mutex mutex;
  kernel_map map;

  static user_kernels& instance() {
    static user_kernels all;
    return all;
  }
};

template <class Tag = void>
bound_kernel find_kernel(const kernel_use& use) {
  if (const bound_kernel own = find_builtin<Tag>(use)) return own;
  user_kernels& users = user_kernels::instance();
  const std::lock_guard lock(users.mutex);
  const auto found = users.map.find(use.op);
  return found == users.map.end() ? bound_kernel{} : found->second.find(use);
}

}  // namespace detail

#ifdef FLOWGRAPH_COMPILED
// What the kernels of flowgraph::compiled that this program runs were compiled for: "x86-64", "x86-64-v3", "x86-64-v4";
// "as-compiled" where there is only one set of them.
std::string_view instruction_set();
#endif

template <class Op>
struct register_kernel {
  register_kernel() {
    detail::user_kernels& users = detail::user_kernels::instance();
    const std::lock_guard lock(users.mutex);
    users.map[Op::id] = detail::make_record<Op>();
  }
};

}  // namespace flowgraph
