// Defines what checkpoint.hpp declares.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint.hpp"
#include "session_copy.hpp"

namespace flowgraph::detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void save_variables(engine& e, const file_path& path, const checkpoint_options& o,
                                         const file_metadata& metadata) {
  const session_copy copy = copy_session(e, o, metadata);
  write_safetensors(path, copy.tensors, copy.metadata);
}

FLOWGRAPH_OTHER_HALF file_metadata restore_variables(engine& e, const file_path& path, const checkpoint_options& o) {
  safetensors_file file(path);
  // Types and extents of variables never change: the file is read while steps go on.
  std::vector<wanted_tensor> wanted;
  read_variables(e, [&](std::span<const variable_view> all, random_position) {
    for (const variable_view& v : all) wanted.push_back(describe(v, o));
  });
  const std::size_t declared = wanted.size();
  // Where graphs come later, so do variables: names of the file are theirs unless they are mapped.
  if (runs_any_graph(e) && !o.name_in_file)
    for (const stored_tensor& t : file.tensors())
      if (t.type != dtype::none &&
          std::none_of(wanted.begin(), wanted.end(), [&](const wanted_tensor& w) { return w.name == t.name; }))
        wanted.push_back({t.name, t.type, {t.dims.begin(), t.dims.end()}, true});
  const auto matched = match_tensors(file, wanted, {o.allow_missing, o.allow_extra});
  std::vector<aligned_buffer<std::byte>> values(matched.size());
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (matched[i] == nullptr) continue;
    values[i] = allocate_aligned<std::byte>(matched[i]->bytes());
    file.read(*matched[i], {values[i].get(), matched[i]->bytes()});
  }
  std::optional<random_position> position;
  if (!o.trainable_only) position = noted_position(file);

  for (std::size_t i = declared; i < wanted.size(); ++i)
    bring_variable(e, wanted[i].name, wanted[i].type, wanted[i].dims);
  write_variables(e, position ? &*position : nullptr, [&](std::span<const variable_view> all) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (matched[i] == nullptr) continue;
      const auto v = i < declared ? all.begin() + static_cast<std::ptrdiff_t>(i)
                                  : std::find_if(all.begin(), all.end(),
                                                 [&](const variable_view& x) { return x.name == wanted[i].name; });
      std::memcpy(v->value.data, values[i].get(), v->bytes());
    }
  });
  file_metadata users = file.metadata();
  std::erase_if(users, [](const auto& entry) { return entry.first.starts_with(own_keys); });
  return users;
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
