// What is wrong with a file, in parts: a program can tell the place from the reason.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <flowgraph/core/error.hpp>

namespace flowgraph {

struct file_fault {
  std::string file;
  std::uint64_t offset = 0;  // in bytes; of the whole file where no byte of it is to blame
  std::string tensor;        // empty: none
  std::string expected, found;
};

class tensor_file_error : public error {
 public:
  tensor_file_error(problem why, file_fault fault)
      : error(why, text(fault)),
        fault_(std::make_shared<const file_fault>(std::move(fault))) {}

  const file_fault& fault() const noexcept { return *fault_; }

 private:
  static std::string text(const file_fault& f) {
    const std::string where = f.tensor.empty() ? "" : fmt::format(" tensor \"{}\":", f.tensor);
    return fmt::format("{}: byte {}:{} expected {}, found {}", f.file, f.offset, where, f.expected, f.found);
  }

  std::shared_ptr<const file_fault> fault_;  // shared, so that a copy of the exception can't fail
};

}  // namespace flowgraph
