// Files for tests: the goldens, and ones that are gone afterwards.
#pragma once
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <flowgraph/formats/file_error.hpp>

#include "support/test_file.hpp"

namespace flowgraph::testing {

inline std::filesystem::path golden_path(const std::string& name) {
  return std::filesystem::path(flowgraph::testing::test_file("golden/io")) / name;
}

inline std::string file_content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void put_content(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

class scratch_directory {
 public:
  scratch_directory() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("flowgraph_test_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class scratch_file {
 public:
  explicit scratch_file(std::string_view content) : path_(directory_ / "file") { write(content); }

  void write(std::string_view content) { put_content(path_, content); }
  const std::filesystem::path& path() const { return path_; }

 private:
  scratch_directory directory_;
  std::filesystem::path path_;
};

// The message of the file_error that `act` throws, its file left out.
template <class Act>
std::string file_problem(const Act& act) {
  try {
    act();
  } catch (const file_error& e) {
    const std::string_view message = e.what();
    return std::string(message.substr(e.file().size()));
  }
  return "no file_error";
}

}  // namespace flowgraph::testing
