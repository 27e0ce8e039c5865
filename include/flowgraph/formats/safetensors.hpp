// Files in the safetensors format, which PyTorch, NumPy and JAX read and write: fg::safetensors_file reads one,
// fg::write_safetensors makes one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/core/handle.hpp>
#include <flowgraph/core/other_half.hpp>
#include "file_error.hpp"
#include "file_path.hpp"
#include "stored_tensor.hpp"

namespace flowgraph {

// A tensor to write: its elements row by row.
struct tensor_bytes {
  std::string name;
  dtype type = dtype::none;
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;
};

namespace detail {

// A file that is open, and where its tensors are.
struct open_safetensors;
using safetensors_handle = handle<open_safetensors>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF safetensors_handle open_stored(const file_path& path);
FLOWGRAPH_OTHER_HALF void give_back(open_safetensors* f) noexcept;
FLOWGRAPH_OTHER_HALF const safetensors_header& header_of(const open_safetensors& f);
FLOWGRAPH_OTHER_HALF const stored_tensor* find_stored(const open_safetensors& f, std::string_view name);
FLOWGRAPH_OTHER_HALF void read_stored(open_safetensors& f, const stored_tensor& t, std::span<std::byte> bytes);
FLOWGRAPH_OTHER_HALF void write_stored(const file_path& path, std::span<const tensor_bytes> tensors,
                                       const file_metadata& metadata);

}  // namespace FLOWGRAPH_HALF

}  // namespace detail

// The header is read and checked when it is made; data when it is asked for. Throws file_error.
class safetensors_file {
 public:
  explicit safetensors_file(file_path path) : path_(std::move(path)), file_(detail::open_stored(path_)) {}

  const file_path& path() const { return path_; }
  // In the order of their data.
  const std::vector<stored_tensor>& tensors() const& { return detail::header_of(*file_).tensors; }
  std::vector<stored_tensor> tensors() const&& { return detail::header_of(*file_).tensors; }
  const file_metadata& metadata() const& { return detail::header_of(*file_).metadata; }
  file_metadata metadata() const&& { return detail::header_of(*file_).metadata; }
  // Null: there is none of this name.
  const stored_tensor* find(std::string_view name) const& { return detail::find_stored(*file_, name); }
  const stored_tensor* find(std::string_view name) const&& = delete;  // it would outlive the file

  // All of a tensor's data, to bytes.size() == t.bytes().
  void read(const stored_tensor& t, std::span<std::byte> bytes) { detail::read_stored(*file_, t, bytes); }

 private:
  file_path path_;
  detail::safetensors_handle file_;
};

// The file is there whole or not at all: see formats/durable_file.hpp. Throws argument_error for what no file can have,
// file_error where it can't be written.
inline void write_safetensors(const file_path& path, std::span<const tensor_bytes> tensors,
                              const file_metadata& metadata = {}) {
  detail::write_stored(path, tensors, metadata);
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "safetensors_code.hpp"
#endif
