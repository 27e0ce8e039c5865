// The table of every kernel of the library, for graphs that are built when the program runs. It takes a compiler most
// of a minute, so it is a template: only who asks it has it compiled.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "all.hpp"
#include "binding.hpp"

namespace flowgraph::detail {

template <class Tag = void>
struct kernel_table {
  static bound_kernel find(const kernel_use& use) {
    static const map all = make(all_kernels{});
    const auto found = all.find(use.op);
    return found == all.end() ? bound_kernel{} : found->second.find(use);
  }

 private:
  using map = std::unordered_map<std::uint64_t, kernel_record>;

  template <class... Op>
  static map make(type_list<Op...>) {
    static_assert(sizeof...(Op) == library_kernel_types<>.size());
    static_assert(((library_kernel_types<>.of(Op::id) == kernel_types_of<Op>()) && ...));
    return {{Op::id, make_record<Op>()}...};
  }
};

}  // namespace flowgraph::detail
