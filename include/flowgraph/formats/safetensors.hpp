// Files in the safetensors format, which PyTorch, NumPy and JAX read and write: fg::safetensors_file reads one,
// fg::write_safetensors makes one.
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
#include "safetensors_header.hpp"

namespace flowgraph {

// The header is read and checked when it is made; data when it is asked for. Throws file_error.
class safetensors_file {
 public:
  explicit safetensors_file(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code ec;
    if (!std::filesystem::is_regular_file(path_, ec)) fail_access(ec ? ec.message() : "it is not a file");
    stream_.open(path_, std::ios::binary);
    if (!stream_) fail_access(std::generic_category().message(errno));
    const std::uint64_t size = std::filesystem::file_size(path_, ec);
    if (ec) fail_access(ec.message());

    std::byte first[detail::safetensors_length_bytes];
    const std::size_t n = std::min<std::uint64_t>(size, sizeof first);
    read_at(0, {first, n}, "");
    std::string text(detail::safetensors_header_length(path_.string(), {first, n}, size), '\0');
    read_at(n, std::as_writable_bytes(std::span(text)), "");
    header_ = detail::parse_safetensors_header(path_.string(), text, size);
    for (std::size_t i = 0; i < header_.tensors.size(); ++i) by_name_[header_.tensors[i].name] = i;
  }

  const std::filesystem::path& path() const { return path_; }
  // In the order of their data.
  const std::vector<stored_tensor>& tensors() const { return header_.tensors; }
  const file_metadata& metadata() const { return header_.metadata; }
  // Null: there is none of this name.
  const stored_tensor* find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? nullptr : &header_.tensors[found->second];
  }

  // All of a tensor's data, to bytes.size() == t.bytes().
  void read(const stored_tensor& t, std::span<std::byte> bytes) {
    read_at(header_.data_begin + t.begin, bytes, t.name);
    if (t.type != dtype::boolean) return;
    // Another number in a bool is undefined behaviour.
    const auto bad = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
    if (bad == bytes.end()) return;
    const auto offset = header_.data_begin + t.begin + static_cast<std::uint64_t>(bad - bytes.begin());
    detail::refuse_stored(problem::file_malformed, path_.string(), offset, t.name, "0 or 1",
                          fmt::format("{}", static_cast<int>(*bad)));
  }

 private:
  void read_at(std::uint64_t offset, std::span<std::byte> bytes, const std::string& tensor) {
    if (bytes.empty()) return;
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const auto got = static_cast<std::uint64_t>(stream_.gcount());
    if (got != bytes.size())
      detail::refuse_stored(problem::file_access, path_.string(), offset + got, tensor,
                            fmt::format("{} bytes", bytes.size()), fmt::format("{}", got));
  }
  [[noreturn]] void fail_access(std::string_view why) const {
    throw file_error(problem::file_access, path_.string(), {}, {"can't be opened: ", why});
  }

  std::filesystem::path path_;
  std::ifstream stream_;
  safetensors_header header_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

// A tensor to write: its elements row by row.
struct tensor_bytes {
  std::string name;
  dtype type = dtype::none;
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;
};

// The file is there whole or not at all: see formats/durable_file.hpp. Throws argument_error for what no file can have,
// file_error where it can't be written.
inline void write_safetensors(const std::filesystem::path& path, std::span<const tensor_bytes> tensors,
                              const file_metadata& metadata = {}) {
  std::vector<const tensor_bytes*> sorted;
  for (const tensor_bytes& t : tensors) sorted.push_back(&t);
  std::sort(sorted.begin(), sorted.end(), [](const tensor_bytes* a, const tensor_bytes* b) {
    const auto *x = detail::stored_type_of(a->type), *y = detail::stored_type_of(b->type);
    return x != y ? x > y : a->name < b->name;
  });
  std::vector<stored_tensor> stored;
  std::vector<std::span<const std::byte>> parts(1);
  std::unordered_set<std::string_view> names{detail::metadata_key};
  std::uint64_t end = 0;
  for (const tensor_bytes* t : sorted) {
    if (!names.insert(t->name).second)
      throw argument_error(problem::tensor_names,
                           fmt::format("{}: {}: \"{}\"", path.string(), sentence(problem::tensor_names), t->name));
    const std::uint64_t begin = end;
    end += t->bytes.size();
    stored.push_back({t->name,
                      std::string(detail::stored_type_of(t->type)->name),
                      t->type,
                      {t->dims.begin(), t->dims.end()},
                      begin,
                      end});
    if (t->type == dtype::none || detail::stored_bits(stored.back(), 8 * size_of(t->type)) != 8 * t->bytes.size())
      throw argument_error(problem::array_data,
                           fmt::format("{}: \"{}\": {} takes other than {} bytes", path.string(), t->name,
                                       detail::stored_text(name_of(t->type), t->dims), t->bytes.size()));
    parts.push_back(t->bytes);
  }
  std::string header;
  try {
    header = detail::safetensors_header_bytes(stored, metadata);
  } catch (const nlohmann::json::exception& e) {
    throw argument_error(problem::tensor_names,
                         fmt::format("{}: {}: {}", path.string(), sentence(problem::tensor_names), e.what()));
  }
  parts[0] = std::as_bytes(std::span(header));
  detail::write_durably(path, parts);
}

}  // namespace flowgraph
