// The providers that the program was built with, and which one a session asks.
#pragma once
#include <cstdlib>
#include <string_view>

#include <flowgraph/core/error.hpp>
#include "provider.hpp"
#if FLOWGRAPH_ONEDNN
#include <flowgraph/kernels/onednn/provider.hpp>
#endif

namespace flowgraph::detail {

#if FLOWGRAPH_ONEDNN
inline constexpr bool has_onednn = true;
inline constexpr std::string_view built_in_kernels = "eigen and onednn";
#else
inline constexpr bool has_onednn = false;
inline constexpr std::string_view built_in_kernels =
    "eigen alone; define FLOWGRAPH_ONEDNN=1 and link oneDNN for onednn";
#endif

// Null: the library's own kernels alone.
inline const kernel_provider* choose_provider(kernels asked) {
  const char* const said = asked == kernels::automatic ? std::getenv("FLOWGRAPH_KERNELS") : nullptr;
  const std::string_view name = said == nullptr ? "" : said;
  const auto refuse = [](std::string_view who, std::string_view what) {
    throw argument_error(problem::no_such_kernels, {who, what, "; this program was built with ", built_in_kernels});
  };
  if (name == "eigen")
    asked = kernels::eigen;
  else if (name == "onednn")
    asked = kernels::onednn;
  else if (!name.empty() && name != "auto")
    refuse("the environment variable FLOWGRAPH_KERNELS must be auto, eigen or onednn, not ", name);
  if (asked == kernels::onednn && !has_onednn)
    refuse(said == nullptr ? "session: kernels" : "the environment variable FLOWGRAPH_KERNELS", " = onednn");
#if FLOWGRAPH_ONEDNN
  if (asked == kernels::onednn) return &onednn::everywhere;
  if (asked == kernels::automatic) return &onednn::where_faster;
#endif
  return nullptr;
}

}  // namespace flowgraph::detail
