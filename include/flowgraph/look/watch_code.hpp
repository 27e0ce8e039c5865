// Defines what watch.hpp declares.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/engine/report/value_range.hpp>
#include <flowgraph/engine/text.hpp>
#include <flowgraph/kernels/cpu/flow.hpp>
#include "watch.hpp"

namespace flowgraph::debug::detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void show_value(std::string_view name, const flowgraph::detail::borrowed& value) {
  const array_view v{const_cast<void*>(value.data), value.dims, value.rank, value.type};
  std::string line;
  flowgraph::detail::with_type(v.type, [&]<class E>(E) {
    line = fmt::format("\"{}\" {}: {}\n", name, flowgraph::detail::value_range(v).text(),
                       flowgraph::detail::summary<E>(v, 8));
  });
  std::fwrite(line.data(), 1, line.size(), stderr);
}

FLOWGRAPH_OTHER_HALF std::string label_of_node(const graph_view& g, int node) {
  return flowgraph::detail::plain_label(g, node);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::debug::detail
