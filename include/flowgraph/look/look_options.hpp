// Which step of a model is looked at.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include <flowgraph/core/dim.hpp>
#include <flowgraph/passes/pipeline.hpp>

namespace flowgraph {

struct look_options {
  std::vector<std::string_view> fetches = {};  // names; none: everything that has a name and computes something
  std::vector<std::string_view> feeds = {};    // none: every placeholder that is needed is fed
  std::vector<binding> extents = {};           // for bytes, as batch(32); others count as 1
  std::vector<std::string_view> devices = {};  // none: those of an on_devices<...>, otherwise one CPU
  passes::options passes = {};
  std::size_t examples = 5;              // of explain: nodes named for each pass
  std::string_view title = "flowgraph";  // of a page
};

namespace detail {

// With the devices that are looked at.
template <class G>
look_options with_devices(const G& model, look_options options) {
  if constexpr (requires { model.placing; })
    options.passes.soft_placement = options.passes.soft_placement || model.placing.soft_placement;
  if (!options.devices.empty()) return options;
  if constexpr (requires { model.devices(); })
    options.devices.assign(model.devices().begin(), model.devices().end());
  else
    options.devices = {"/cpu:0"};
  return options;
}

}  // namespace detail
}  // namespace flowgraph
