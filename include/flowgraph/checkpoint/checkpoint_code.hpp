// Defines what checkpoint.hpp declares.
#pragma once
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint.hpp"
#include "session_copy.hpp"

namespace flowgraph::detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void save_variables(engine& e, const graph_view& g, const file_path& path,
                                         const checkpoint_options& o, const file_metadata& metadata) {
  const session_copy copy = copy_session(e, g, o, metadata);
  write_safetensors(path, copy.tensors, copy.metadata);
}

FLOWGRAPH_OTHER_HALF file_metadata restore_variables(engine& e, const graph_view& g, const file_path& path,
                                                     const checkpoint_options& o) {
  safetensors_file file(path);
  // Types and extents of variables never change: the file is read while steps go on.
  std::vector<wanted_tensor> wanted;
  read_variables(e, [&](std::span<const variable_view> all, random_position) {
    for (const variable_view& v : all) wanted.push_back(describe(g, v, o));
  });
  const auto matched = match_tensors(file, wanted, {o.allow_missing, o.allow_extra});
  std::vector<aligned_buffer<std::byte>> values(matched.size());
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (matched[i] == nullptr) continue;
    values[i] = allocate_aligned<std::byte>(matched[i]->bytes());
    file.read(*matched[i], {values[i].get(), matched[i]->bytes()});
  }
  std::optional<random_position> position;
  if (!o.trainable_only) position = noted_position(file);

  write_variables(e, position ? &*position : nullptr, [&](std::span<const variable_view> all) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (matched[i] != nullptr) std::memcpy(all[i].value.data, values[i].get(), all[i].bytes());
  });
  file_metadata users = file.metadata();
  std::erase_if(users, [](const auto& entry) { return entry.first.starts_with(own_keys); });
  return users;
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
