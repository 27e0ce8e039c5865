// Defines what npy.hpp declares.
#pragma once
#include <string>

#include "npy.hpp"
#include "npy_parse.hpp"

namespace flowgraph::detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF loaded_array load_npy(const file_path& path, const wanted_array& wanted,
                                           const file_limits& limits) {
  const std::string bytes = load_file(path, limits);
  return parse_npy(byte_reader(path.string(), bytes), wanted);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
