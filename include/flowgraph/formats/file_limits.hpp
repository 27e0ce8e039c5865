// What reading a file may cost. Files that were packed, or that state sizes, can ask for far more memory than they have
// bytes, by mistake or on purpose.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "file_error.hpp"

namespace flowgraph {

// For readers of files that grow as they are read: fg::npz file("x.npz", {.bytes = 1 << 20}).
struct file_limits {
  // Of memory, beyond sixteen times the size of the file. What would take more is refused: file_error, file_limit.
  std::uint64_t bytes = std::uint64_t{1} << 30;
};

namespace detail {

// What is left of it while a file is read.
class memory_budget {
 public:
  // file: its name, for the error; it outlives this.
  memory_budget(std::string_view file, const file_limits& limits, std::uint64_t file_size)
      : file_(file),
        all_(more(limits.bytes, file_size)),
        left_(all_) {}

  // Before the memory is taken.
  void spend(std::uint64_t bytes) {
    if (bytes > left_)
      throw file_error(problem::file_limit, file_, {},
                       {"reading it takes more than ", std::to_string(all_),
                        " bytes of memory; raise fg::file_limits::bytes if that is meant"});
    left_ -= bytes;
  }
  // What has been given back.
  void regain(std::uint64_t bytes) { left_ += bytes; }
  // Another file belongs to it.
  void add_file(std::uint64_t size) {
    left_ = more(left_, size);
    all_ = more(all_, size);
  }
  std::uint64_t left() const { return left_; }

 private:
  static constexpr std::uint64_t factor = 16;

  static std::uint64_t more(std::uint64_t bytes, std::uint64_t size) {
    const std::uint64_t most = UINT64_MAX;
    return size > (most - bytes) / factor ? most : bytes + factor * size;
  }

  std::string_view file_;
  std::uint64_t all_, left_;
};

// Deflate's densest code stands for 258 bytes in 2 bits: whoever claims more than this many for each packed byte lies.
inline constexpr std::uint64_t most_inflation = 1032;

}  // namespace detail
}  // namespace flowgraph
