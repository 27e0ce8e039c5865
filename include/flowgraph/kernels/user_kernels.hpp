// The kernels that register_kernel adds.
#pragma once
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <flowgraph/core/other_half.hpp>
#include "kernel_record.hpp"

namespace flowgraph::detail {

struct user_kernels {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, kernel_record> map;

  static user_kernels& instance() {
    static user_kernels all;
    return all;
  }
};

inline bound_kernel find_user_kernel(const kernel_use& use) {
  user_kernels& users = user_kernels::instance();
  const std::lock_guard lock(users.mutex);
  const auto found = users.map.find(use.op);
  return found == users.map.end() ? bound_kernel{} : found->second.find(use);
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void add_user_kernel(std::uint64_t op, const kernel_record& r) {
  user_kernels& users = user_kernels::instance();
  const std::lock_guard lock(users.mutex);
  users.map[op] = r;
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
