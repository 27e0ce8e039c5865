// Files that are there whole or not at all, whatever ends the process or the machine: written without a name or under
// another one, synced, renamed. The one header of this layer that calls POSIX.
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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
  int descriptor() const { return descriptor_; }

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
  // From this byte on, whatever was there: what can't be written whole is cut off again.
  void write_at(off_t place, std::string_view bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, place + static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int why = errno;
        [[maybe_unused]] const int cut = ::ftruncate(descriptor_, place);
        errno = why;
        fail("written");
      }
      done += static_cast<std::size_t>(n);
    }
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

inline std::string directory_of(const std::string& path) {
  const std::size_t cut = path.rfind('/');
  return cut == std::string::npos ? "." : path.substr(0, cut == 0 ? 1 : cut);
}
inline void sync_directory(const std::string& path) {
  open_file directory(path, O_RDONLY | O_DIRECTORY, path);
  if (!directory.is_open()) directory.fail("opened");
  directory.sync();
}
// As mkdir -p; what is made is there even if the power fails. Who wants a directory sees whether it became one.
inline void make_directories(const std::string& path) {
  if (path.empty() || ::access(path.c_str(), F_OK) == 0) return;
  std::string whole = path;
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  const std::string parent = directory_of(whole);
  make_directories(parent);
  if (::mkdir(whole.c_str(), 0777) == 0) sync_directory(parent);
}

// Whether nobody writes to it: who does holds it locked, and a lock ends with its process.
inline bool is_left_over(const std::string& temporary) {
  const open_file file(temporary, O_RDONLY | O_NONBLOCK, temporary);
  return file.is_open() && ::flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0;
}
// What a file was to be called, of the name that temporary_path gave it; empty: it gave no such name.
inline std::string_view named_before(std::string_view name) {
  if (!name.ends_with(temporary_suffix)) return {};
  name.remove_suffix(temporary_suffix.size());
  for (int part = 0; part < 2; ++part) {  // the count, and the process
    const std::size_t dot = name.find_last_not_of("0123456789");
    if (dot == std::string_view::npos || name[dot] != '.' || dot + 1 == name.size()) return {};
    name = name.substr(0, dot);
  }
  return name;
}
// f(name) for all that lies in a directory, in no order. False: it can't be read, and errno says why. Not
// std::filesystem's iterator, which ends the program where memory fails.
template <class F>
bool for_each_name(const std::string& directory, const F& f) {
  struct closing {
    DIR* all;
    ~closing() {
      if (all != nullptr) ::closedir(all);
    }
  };
  const closing open{::opendir(directory.c_str())};
  if (open.all == nullptr) return false;
  while (const dirent* entry = ::readdir(open.all)) f(std::string_view(entry->d_name));
  return true;
}
// Removes files that processes which were killed were writing; is_ours(what they were to be called).
template <class F>
void remove_leftovers(const std::string& directory, const F& is_ours) {
  for_each_name(directory, [&](std::string_view name) {
    const std::string_view whole = named_before(name);
    if (whole.empty() || !is_ours(whole)) return;
    const std::string path = directory + "/" + std::string(name);
    if (is_left_over(path)) ::unlink(path.c_str());
  });
}

// Where links lead to. What is there stays a link, and its target is written.
inline std::string linked_path(const std::string& name) {
  std::string path = name;
  char target[4096];
  for (int i = 0; i < 40; ++i) {
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length < 0) return path;
    const std::string to(target, static_cast<std::size_t>(length));
    path = to.starts_with('/') ? to : directory_of(path) + "/" + to;
  }
  throw file_error(problem::file_access, name, {}, {"can't be written: its links lead nowhere"});
}

// One file on its way to its path.
class durable_file {
 public:
  explicit durable_file(const file_path& path)
      : path_(linked_path(path.string())),
        name_(path.string()),
        exists_(::stat(path_.c_str(), &was_) == 0) {}

  void write(std::span<const std::span<const std::byte>> parts) {
    if (exists_ && !S_ISREG(was_.st_mode)) return write_to_device(parts);
    const std::string directory = directory_of(path_);
    const std::string_view own = std::string_view(path_).substr(path_.rfind('/') + 1);
    remove_leftovers(directory, [own](std::string_view name) { return name == own; });
    if (!write_unnamed(directory, parts)) write_named(parts);
    sync_directory(directory);
  }

 private:
  // A pipe or a terminal holds nothing that could be lost.
  void write_to_device(std::span<const std::span<const std::byte>> parts) const {
    open_file file(path_, O_WRONLY, name_);
    if (!file.is_open()) file.fail("opened");
    for (const std::span<const std::byte> part : parts) file.write(part);
    file.close();
  }
  // Nothing is left of it if the process ends. False: the file system has no such files.
  bool write_unnamed(const std::string& directory, std::span<const std::span<const std::byte>> parts) const {
#ifdef O_TMPFILE
    open_file file(directory, O_WRONLY | O_TMPFILE, name_);
    if (!file.is_open()) return false;
    fill(file, parts);
    const std::string here = fmt::format("/proc/self/fd/{}", file.descriptor());
    std::string temporary;
    int linked = -1;
    do {
      temporary = temporary_path(path_).string();
      linked = ::linkat(AT_FDCWD, here.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW);
    } while (linked != 0 && errno == EEXIST);
    if (linked != 0) return false;
    rename(file, temporary);
    return true;
#else
    return false;
#endif
  }
  void write_named(std::span<const std::span<const std::byte>> parts) const {
    const std::string temporary = temporary_path(path_).string();
    open_file file(temporary, O_WRONLY | O_CREAT | O_TRUNC, name_);
    if (!file.is_open()) file.fail("created");
    try {
      fill(file, parts);
    } catch (...) {
      ::unlink(temporary.c_str());
      throw;
    }
    rename(file, temporary);
  }
  // The mode that a file of this path has stays: who may not read it must not be able to afterwards.
  void fill(open_file& file, std::span<const std::span<const std::byte>> parts) const {
    ::flock(file.descriptor(), LOCK_EX | LOCK_NB);
    if (exists_) ::fchmod(file.descriptor(), was_.st_mode & 07777);
    for (const std::span<const std::byte> part : parts) file.write(part);
    file.sync();
  }
  void rename(open_file& file, const std::string& temporary) const {
    try {
      if (std::rename(temporary.c_str(), path_.c_str()) != 0) file.fail("renamed");
      file.close();
    } catch (...) {
      ::unlink(temporary.c_str());
      throw;
    }
  }

  std::string path_, name_;
  struct stat was_ {};
  bool exists_;
};

// The path holds the parts, one after another, or what it held before. After the call it holds them even if the power
// fails.
inline void write_durably(const file_path& path, std::span<const std::span<const std::byte>> parts) {
  durable_file(path).write(parts);
}

}  // namespace flowgraph::detail
