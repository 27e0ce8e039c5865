// Every kernel of the library, for the instruction set that this file is compiled for. CMake compiles it once for each
// and hides all of it from the linker but the function whose name is in FLOWGRAPH_VARIANT.
#include <flowgraph/kernels/cpu/all.hpp>
#include <flowgraph/kernels/cpu/binding.hpp>

#include "variant.hpp"

namespace {

using namespace flowgraph;

template <class... Op>
detail::variant_kernels entries_of(type_list<Op...>) {
  static constexpr detail::variant_entry entries[] = {
      {Op::id, detail::make_record<Op, detail::region_mode::compiled>()}...};
  return {entries, sizeof...(Op)};
}

}  // namespace

namespace flowgraph::detail {

variant_kernels FLOWGRAPH_VARIANT() { return entries_of(all_kernels{}); }

}  // namespace flowgraph::detail
