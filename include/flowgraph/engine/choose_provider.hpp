// Whose kernels a session runs beside the library's own.
#pragma once
#include <cstdlib>
#include <string_view>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/provider.hpp>
#include <flowgraph/session/options.hpp>

namespace flowgraph::detail {

// Null: the library's own kernels alone. Throws argument_error.
template <class Tag = void>
const kernel_provider* choose_provider(kernels asked, const provider_choice& built_in) {
  const char* const said = asked == kernels::automatic ? std::getenv("FLOWGRAPH_KERNELS") : nullptr;
  const std::string_view name = said == nullptr ? "" : said;
  const auto refuse = [&](std::string_view who, std::string_view what) {
    throw argument_error(
        problem::no_such_kernels,
        {who, what, "; this program was built with ",
         built_in.everywhere != nullptr ? "eigen and onednn"
                                        : "eigen alone; define FLOWGRAPH_ONEDNN=1 and link oneDNN for onednn"});
  };
  if (name == "eigen")
    asked = kernels::eigen;
  else if (name == "onednn")
    asked = kernels::onednn;
  else if (!name.empty() && name != "auto")
    refuse("the environment variable FLOWGRAPH_KERNELS must be auto, eigen or onednn, not ", name);
  if (asked == kernels::onednn && built_in.everywhere == nullptr)
    refuse(said == nullptr ? "session: kernels" : "the environment variable FLOWGRAPH_KERNELS", " = onednn");
  if (asked == kernels::onednn) return built_in.everywhere;
  if (asked == kernels::automatic) return built_in.where_faster;
  return nullptr;
}

}  // namespace flowgraph::detail
