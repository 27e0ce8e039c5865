// Defines what checkpoint_ops.hpp declares: how the ops are run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <flowgraph/core/hash.hpp>
#include "checkpoint_ops.hpp"
#include "session_copy.hpp"

namespace flowgraph::detail {

// Attributes that are texts, one behind the other.
inline std::string take_text(const std::int64_t*& words) {
  std::string s(static_cast<std::size_t>(words[0]), '\0');
  for (std::size_t i = 0; i < s.size(); ++i) s[i] = ops::text_char(words, static_cast<int>(i));
  words += 1 + (s.size() + 7) / 8;
  return s;
}

inline std::span<const std::byte> data_bytes(const array_view& a) {
  return {static_cast<const std::byte*>(a.data), static_cast<std::size_t>(a.size() * size_of(a.type))};
}

// Another number where the path has got another file.
inline std::int64_t identity_of(const file_path& path) {
  std::error_code ignored;
  const auto changed =
      static_cast<std::uint64_t>(std::filesystem::last_write_time(path.string(), ignored).time_since_epoch().count());
  return static_cast<std::int64_t>(mix(changed, std::filesystem::file_size(path.string(), ignored)));
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void run_save_tensors(const kernel_args& k) {
  const std::int64_t* words = k.words;
  const file_path path = take_text(words);
  std::vector<tensor_bytes> tensors;
  for (int i = 0; i < k.n_in; ++i) {
    const array_view& a = k.in[i];
    tensors.push_back({take_text(words), a.type, {a.dims, a.dims + a.rank}, data_bytes(a)});
  }
  file_metadata metadata;
  note_position(metadata, {k.context->seed, k.context->step + 1});  // this step is done, too
  write_safetensors(path, tensors, metadata);
}

FLOWGRAPH_OTHER_HALF void run_match_tensors(const kernel_args& k) {
  const std::int64_t* words = k.words;
  const file_path path = take_text(words);
  *k.out[0].as<std::int64_t>() = identity_of(path);
  std::vector<wanted_tensor> wanted;
  for (int i = 0; i < k.n_in; ++i) {
    const array_view& a = k.in[i];
    wanted.push_back({take_text(words), a.type, {a.dims, a.dims + a.rank}});
  }
  match_tensors(safetensors_file(path), wanted, {});
}

FLOWGRAPH_OTHER_HALF void run_read_tensor(const kernel_args& k) {
  const std::int64_t* words = k.words;
  const file_path path = take_text(words);
  safetensors_file file(path);
  const stored_tensor* const t = file.find(take_text(words));
  const std::span<const std::byte> to = data_bytes(k.out[0]);
  if (t == nullptr || t->bytes() != to.size() || identity_of(path) != *k.in[0].as<const std::int64_t>())
    throw file_error(problem::file_access, path.string(), {}, {"was replaced while it was read"});
  file.read(*t, {k.out[0].as<std::byte>(), to.size()});
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
