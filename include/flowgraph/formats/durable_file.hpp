// Files that are there whole or not at all, whatever ends the process or the machine: written under another name,
// synced, renamed. The one header of this layer that calls POSIX.
#pragma once
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "file_error.hpp"
#include "file_path.hpp"

namespace flowgraph::detail {

// What a file is called until it is whole ends with this.
inline constexpr std::string_view temporary_suffix = ".tmp";

class open_file {
 public:
  // name: what errors call it.
  open_file(const std::string& path, int flags, std::string name) : name_(std::move(name)) {
    do descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    while (descriptor_ < 0 && errno == EINTR);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("written");
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }
  void sync() {
    int failed;
    do failed = ::fsync(descriptor_);
    while (failed != 0 && errno == EINTR);
    if (failed != 0 && errno != EINVAL) fail("synced");  // EINVAL: a file system without syncing of directories
  }
  // Also where the file system says only now that it could not write.
  void close() {
    const int failed = ::close(descriptor_);
    descriptor_ = -1;
    if (failed != 0 && errno != EINTR) fail("closed");
  }
  [[noreturn]] void fail(std::string_view what) const {
    const std::string reason = std::generic_category().message(errno);
    throw file_error(problem::file_access, name_, {}, {"can't be ", what, ": ", reason});
  }

 private:
  std::string name_;
  int descriptor_ = -1;
};

// A name beside the path that nobody else has.
inline file_path temporary_path(const file_path& path) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.{}.{}{}", path.string(), ::getpid(), count++, temporary_suffix);
}

// The path holds the parts, one after another, or what it held before. After the call it holds them even if the power
// fails.
inline void write_durably(const file_path& path, std::span<const std::span<const std::byte>> parts) {
  const file_path temporary = temporary_path(path);
  open_file file(temporary.string(), O_WRONLY | O_CREAT | O_TRUNC, path.string());
  if (!file.is_open()) file.fail("created");
  try {
    for (const std::span<const std::byte> part : parts) file.write(part);
    file.sync();
    file.close();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) file.fail("renamed");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  const std::size_t cut = path.string().rfind('/');
  const std::string parent = cut == std::string::npos ? "." : path.string().substr(0, cut == 0 ? 1 : cut);
  open_file directory(parent, O_RDONLY | O_DIRECTORY, parent);
  if (!directory.is_open()) directory.fail("opened");
  directory.sync();
}

}  // namespace flowgraph::detail
