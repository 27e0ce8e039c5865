// What the header of a safetensors file says, as plain data.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <flowgraph/core/dtype.hpp>

namespace flowgraph {

using file_metadata = std::map<std::string, std::string>;

struct stored_tensor {
  std::string name;
  std::string type_name;     // as the file has it: F32
  dtype type = dtype::none;  // none: nothing that a tensor of flowgraph's holds
  std::vector<std::uint64_t> dims;
  std::uint64_t begin = 0, end = 0;  // bytes, counted from the end of the header

  std::uint64_t bytes() const { return end - begin; }
};

struct safetensors_header {
  std::vector<stored_tensor> tensors;  // in the order of their data
  file_metadata metadata;
  std::uint64_t data_begin = 0;  // in the file
};

}  // namespace flowgraph
