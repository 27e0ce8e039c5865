// One moment of a session, and what a file notes of it beside the variables.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/session/engine_here.hpp>
#include "checkpoint_match.hpp"
#include "checkpoint_options.hpp"

namespace flowgraph::detail {

// Keys of what the library itself notes in a file.
inline constexpr std::string_view own_keys = "flowgraph.";
inline const std::string seed_key = "flowgraph.seed";
inline const std::string steps_key = "flowgraph.steps";

inline void note_position(file_metadata& metadata, random_position p) {
  metadata[seed_key] = fmt::format("{}", p.seed);
  metadata[steps_key] = fmt::format("{}", p.steps);
}
inline std::optional<std::uint64_t> noted_number(const safetensors_file& f, const std::string& key) {
  const auto found = f.metadata().find(key);
  if (found == f.metadata().end()) return {};
  const std::string& text = found->second;
  std::uint64_t n = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (fault != std::errc{} || end != text.data() + text.size())
    refuse_stored(problem::file_malformed, f.path().string(), safetensors_length_bytes, metadata_key,
                  fmt::format("a number as {}", key), fmt::format("\"{}\"", shown(text)));
  return n;
}
// Nothing where the file does not say.
inline std::optional<random_position> noted_position(const safetensors_file& f) {
  const auto seed = noted_number(f, seed_key), steps = noted_number(f, steps_key);
  if (!seed || !steps) return {};
  return random_position{*seed, *steps};
}

inline wanted_tensor describe(const variable_view& v, const checkpoint_options& o) {
  std::string name = v.name.empty() ? fmt::format("variable_{}", v.node) : std::string(v.name);
  if (o.name_in_file) name = o.name_in_file(name);
  return {std::move(name), v.value.type, v.dims(), v.trainable || !o.trainable_only};
}

// One moment of a session.
struct session_copy {
  std::vector<tensor_bytes> tensors;
  std::vector<aligned_buffer<std::byte>> memory;
  file_metadata metadata;
};

// used: an earlier copy, whose memory serves again. New memory costs more than the copying.
inline session_copy copy_session(engine& e, const checkpoint_options& o, const file_metadata& metadata,
                                 session_copy used = {}) {
  for (const auto& [key, value] : metadata)
    if (key.starts_with(own_keys))
      throw argument_error(
          problem::tensor_names,
          fmt::format("save: keys that begin with \"{}\" are the library's own, got \"{}\"", own_keys, key));
  session_copy c;
  c.metadata = metadata;
  read_variables(e, [&](std::span<const variable_view> all, random_position p) {
    for (const variable_view& v : all) {
      wanted_tensor w = describe(v, o);
      if (!w.restored) continue;
      const std::size_t i = c.tensors.size();
      const bool fits = i < used.tensors.size() && used.tensors[i].bytes.size() == v.bytes();
      aligned_buffer<std::byte> bytes = fits ? std::move(used.memory[i]) : allocate_aligned<std::byte>(v.bytes());
      std::memcpy(bytes.get(), v.value.data, v.bytes());
      c.tensors.push_back({std::move(w.name), v.value.type, v.dims(), {bytes.get(), v.bytes()}});
      c.memory.push_back(std::move(bytes));
    }
    if (!o.trainable_only) note_position(c.metadata, p);
  });
  return c;
}

}  // namespace flowgraph::detail
