// fg::save and fg::restore: all that a session has to remember, in a file that other frameworks read. Saving copies one
// moment of the session, then writes the copy while steps go on. Restoring changes everything or nothing.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/session/session_access.hpp>
#include "checkpoint_match.hpp"

namespace flowgraph {

struct checkpoint_options {
  // What a variable is called in the file, by its name in the graph. Empty: the same.
  std::function<std::string(std::string_view name)> name_in_file = nullptr;
  // The weights alone: neither other variables nor the seed and the count of steps.
  bool trainable_only = false;
  // Of restore: variables that the file does not have stay as they are.
  bool allow_missing = false;
  // Of restore: tensors that no variable is called like are passed over.
  bool allow_extra = false;
};

namespace detail {

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

inline wanted_tensor describe(const graph_view& g, const variable_view& v, const checkpoint_options& o) {
  const std::string_view own = g.name_of(v.node);
  std::string name = own.empty() ? fmt::format("variable_{}", v.node) : std::string(own);
  if (o.name_in_file) name = o.name_in_file(name);
  const bool trainable = attrs_from_words<ops::variable::attrs>(g.attrs(v.node).data).trainable != 0;
  return {std::move(name), v.value.type, v.dims(), trainable || !o.trainable_only};
}

// One moment of a session.
struct session_copy {
  std::vector<tensor_bytes> tensors;
  std::vector<aligned_buffer<std::byte>> memory;
  file_metadata metadata;
};

// used: an earlier copy, whose memory serves again. New memory costs more than the copying.
template <class Session>
session_copy copy_session(Session& s, const checkpoint_options& o, const file_metadata& metadata,
                          session_copy used = {}) {
  for (const auto& [key, value] : metadata)
    if (key.starts_with(own_keys))
      throw argument_error(
          problem::tensor_names,
          fmt::format("save: keys that begin with \"{}\" are the library's own, got \"{}\"", own_keys, key));
  const graph_view g = session_access::graph_of(s);
  session_copy c;
  c.metadata = metadata;
  read_variables(session_access::engine_of(s), [&](std::span<const variable_view> all, random_position p) {
    for (const variable_view& v : all) {
      wanted_tensor w = describe(g, v, o);
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

}  // namespace detail

// Every variable, and the seed and the count of steps, which random numbers follow from. metadata: what else the caller
// needs to go on, such as the epoch. May be called while other threads run steps.
template <class Session>
void save(Session& s, const std::filesystem::path& path, const checkpoint_options& options = {},
          const file_metadata& metadata = {}) {
  const detail::session_copy copy = detail::copy_session(s, options, metadata);
  write_safetensors(path, copy.tensors, copy.metadata);
}

// Gives the metadata that was saved. Throws file_error for a bad file and checkpoint_error for one of another model;
// then the session is as it was. A file without seed and count of steps leaves them alone.
template <class Session>
file_metadata restore(Session& s, const std::filesystem::path& path, const checkpoint_options& options = {}) {
  safetensors_file file(path);
  detail::engine& engine = detail::session_access::engine_of(s);
  // Types and extents of variables never change: the file is read while steps go on.
  std::vector<detail::wanted_tensor> wanted;
  detail::read_variables(engine, [&](std::span<const detail::variable_view> all, detail::random_position) {
    for (const detail::variable_view& v : all)
      wanted.push_back(detail::describe(detail::session_access::graph_of(s), v, options));
  });
  const auto matched = detail::match_tensors(file, wanted, {options.allow_missing, options.allow_extra});
  std::vector<detail::aligned_buffer<std::byte>> values(matched.size());
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (matched[i] == nullptr) continue;
    values[i] = detail::allocate_aligned<std::byte>(matched[i]->bytes());
    file.read(*matched[i], {values[i].get(), matched[i]->bytes()});
  }
  std::optional<detail::random_position> position;
  if (!options.trainable_only) position = detail::noted_position(file);

  detail::write_variables(engine, position ? &*position : nullptr, [&](std::span<const detail::variable_view> all) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (matched[i] != nullptr) std::memcpy(all[i].value.data, values[i].get(), all[i].bytes());
  });
  file_metadata users = file.metadata();
  std::erase_if(users, [](const auto& entry) { return entry.first.starts_with(detail::own_keys); });
  return users;
}

}  // namespace flowgraph
