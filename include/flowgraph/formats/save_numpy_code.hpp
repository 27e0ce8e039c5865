// Defines what save_numpy.hpp declares.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <fmt/core.h>

#include <flowgraph/core/error.hpp>
#include "save_numpy.hpp"
#include "zip_writer.hpp"

namespace flowgraph::detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void write_npy(const file_path& path, const borrowed& data) {
  const std::string head = npy_head(data);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(head)), data_bytes(data)};
  write_durably(path, parts);
}

FLOWGRAPH_OTHER_HALF void write_npz(const file_path& path, std::initializer_list<npz_array> arrays) {
  std::vector<zip_content> all;
  std::unordered_set<std::string_view> names;
  for (const npz_array& a : arrays) {
    if (a.name().empty() || a.name().size() > 1000 || !names.insert(a.name()).second)
      throw argument_error(problem::array_names,
                           fmt::format("{}: {}: \"{}\"", path.string(), sentence(problem::array_names), a.name()));
    all.push_back({a.name() + ".npy", npy_head(a.data()), data_bytes(a.data())});
  }
  write_zip(path, all, zip_most - 1);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
