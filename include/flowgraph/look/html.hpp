// fg::to_html: a model, its plan and the times of its steps as one page that needs nothing but a browser.
#pragma once
#include <string>
#include <vector>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_error.hpp>
#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/language/print.hpp>
#include <flowgraph/session/profile.hpp>
#include "look_options.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

// With devices.
FLOWGRAPH_OTHER_HALF std::string page_of(const graph_view& g, const std::vector<step_profile>& steps,
                                         const look_options& o);
FLOWGRAPH_OTHER_HALF void write_page(const file_path& path, const graph_view& g, const std::vector<step_profile>& steps,
                                     const look_options& o);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// The page: the graph with scopes that open and close, shapes on its edges and devices by colour, the memory of the
// plan over time, the profiled steps over time, a search. options say which step's plan is shown, and how large.
template <viewed_graph G>
std::string to_html(const G& model, const std::vector<step_profile>& steps = {}, const look_options& options = {}) {
  return detail::page_of(model.view(), steps, detail::with_devices(model, options));
}

// The same as a file. Throws file_error.
template <viewed_graph G>
void write_html(const file_path& path, const G& model, const std::vector<step_profile>& steps = {},
                const look_options& options = {}) {
  detail::write_page(path, model.view(), steps, detail::with_devices(model, options));
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "html_code.hpp"
#endif
