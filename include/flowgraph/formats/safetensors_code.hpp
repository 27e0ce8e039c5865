// Defines what safetensors.hpp declares.
#pragma once
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "durable_file.hpp"
#include "safetensors.hpp"
#include "safetensors_header.hpp"

namespace flowgraph::detail {

struct open_safetensors {
  std::string path;
  std::ifstream stream;
  safetensors_header header;
  std::unordered_map<std::string, std::size_t> by_name;

  explicit open_safetensors(std::string name) : path(std::move(name)) {
    std::error_code ec;
    if (!std::filesystem::is_regular_file(path, ec)) fail_access(ec ? ec.message() : "it is not a file");
    stream.open(path, std::ios::binary);
    if (!stream) fail_access(std::generic_category().message(errno));
    const std::uint64_t size = std::filesystem::file_size(path, ec);
    if (ec) fail_access(ec.message());

    std::byte first[safetensors_length_bytes];
    const std::size_t n = std::min<std::uint64_t>(size, sizeof first);
    read_at(0, {first, n}, "");
    std::string text(safetensors_header_length(path, {first, n}, size), '\0');
    read_at(n, std::as_writable_bytes(std::span(text)), "");
    header = parse_safetensors_header(path, text, size);
    for (std::size_t i = 0; i < header.tensors.size(); ++i) by_name[header.tensors[i].name] = i;
  }

  void read_at(std::uint64_t offset, std::span<std::byte> bytes, const std::string& tensor) {
    if (bytes.empty()) return;
    stream.clear();
    stream.seekg(static_cast<std::streamoff>(offset));
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const auto got = static_cast<std::uint64_t>(stream.gcount());
    if (got != bytes.size())
      refuse_stored(problem::file_access, path, offset + got, tensor, fmt::format("{} bytes", bytes.size()),
                    fmt::format("{}", got));
  }
  [[noreturn]] void fail_access(std::string_view why) const {
    throw file_error(problem::file_access, path, {}, {"can't be opened: ", why});
  }
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF safetensors_handle open_stored(const file_path& path) {
  return safetensors_handle(new open_safetensors(path.string()));
}
FLOWGRAPH_OTHER_HALF void give_back(open_safetensors* f) noexcept { delete f; }

FLOWGRAPH_OTHER_HALF const safetensors_header& header_of(const open_safetensors& f) { return f.header; }
FLOWGRAPH_OTHER_HALF const stored_tensor* find_stored(const open_safetensors& f, std::string_view name) {
  const auto found = f.by_name.find(std::string(name));
  return found == f.by_name.end() ? nullptr : &f.header.tensors[found->second];
}

FLOWGRAPH_OTHER_HALF void read_stored(open_safetensors& f, const stored_tensor& t, std::span<std::byte> bytes) {
  const std::uint64_t begin = f.header.data_begin + t.begin;
  f.read_at(begin, bytes, t.name);
  if (t.type != dtype::boolean) return;
  // Another number in a bool is undefined behaviour.
  const auto bad = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
  if (bad == bytes.end()) return;
  refuse_stored(problem::file_malformed, f.path, begin + static_cast<std::uint64_t>(bad - bytes.begin()), t.name,
                "0 or 1", fmt::format("{}", static_cast<int>(*bad)));
}

FLOWGRAPH_OTHER_HALF void write_stored(const file_path& path, std::span<const tensor_bytes> tensors,
                                       const file_metadata& metadata) {
  std::vector<const tensor_bytes*> sorted;
  for (const tensor_bytes& t : tensors) sorted.push_back(&t);
  std::sort(sorted.begin(), sorted.end(), [](const tensor_bytes* a, const tensor_bytes* b) {
    const auto *x = stored_type_of(a->type), *y = stored_type_of(b->type);
    return x != y ? x > y : a->name < b->name;
  });
  std::vector<stored_tensor> stored;
  std::vector<std::span<const std::byte>> parts(1);
  std::unordered_set<std::string_view> names{metadata_key};
  std::uint64_t end = 0;
  for (const tensor_bytes* t : sorted) {
    if (!names.insert(t->name).second)
      throw argument_error(problem::tensor_names,
                           fmt::format("{}: {}: \"{}\"", path.string(), sentence(problem::tensor_names), t->name));
    const std::uint64_t begin = end;
    end += t->bytes.size();
    stored.push_back(
        {t->name, std::string(stored_type_of(t->type)->name), t->type, {t->dims.begin(), t->dims.end()}, begin, end});
    if (t->type == dtype::none || stored_bits(stored.back(), 8 * size_of(t->type)) != 8 * t->bytes.size())
      throw argument_error(problem::array_data,
                           fmt::format("{}: \"{}\": {} takes other than {} bytes", path.string(), t->name,
                                       stored_text(name_of(t->type), t->dims), t->bytes.size()));
    parts.push_back(t->bytes);
  }
  std::string header;
  try {
    header = safetensors_header_bytes(stored, metadata);
  } catch (const nlohmann::json::exception& e) {
    throw argument_error(problem::tensor_names,
                         fmt::format("{}: {}: {}", path.string(), sentence(problem::tensor_names), e.what()));
  }
  parts[0] = std::as_bytes(std::span(header));
  write_durably(path, parts);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
