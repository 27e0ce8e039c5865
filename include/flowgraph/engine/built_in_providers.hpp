// The providers of kernels that a program was built with: FLOWGRAPH_ONEDNN says whether oneDNN is one.
#pragma once
#include <flowgraph/kernels/provider.hpp>
#if FLOWGRAPH_ONEDNN
#include <flowgraph/kernels/onednn/provider.hpp>
#endif

namespace flowgraph::detail {

template <class Tag = void>
provider_choice built_in_providers() {
#if FLOWGRAPH_ONEDNN
  return {&onednn::everywhere, &onednn::where_faster};
#else
  return {};
#endif
}

}  // namespace flowgraph::detail
