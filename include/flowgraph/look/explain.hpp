// fg::explain: what each pass did to a model on its way to a plan, in words.
#pragma once
#include <string>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/language/print.hpp>
#include "look_options.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

// With devices.
FLOWGRAPH_OTHER_HALF std::string explain_graph(const graph_view& g, const look_options& o);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// A line for each pass of the pipeline, with nodes that it changed and the lines that made them; then the plan, and how
// much memory was saved. fg::explain(model), fg::explain(model, {.fetches = {"loss"}, .extents = {batch(32)}}).
template <viewed_graph G>
std::string explain(const G& model, const look_options& options = {}) {
  return detail::explain_graph(model.view(), detail::with_devices(model, options));
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "explain_code.hpp"
#endif
