// Files for tests: the goldens, and ones with given content that are gone afterwards.
#pragma once
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include <flowgraph/core/error.hpp>

namespace flowgraph::testing {

inline std::filesystem::path golden_path(const std::string& name) {
  return std::filesystem::path(FLOWGRAPH_TESTS_DIR) / "golden" / "io" / name;
}

inline std::string file_content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class scratch_file {
 public:
  explicit scratch_file(std::string_view content) {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("flowgraph_test_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    write(content);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  void write(std::string_view content) {
    std::ofstream(path_, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  }
  const std::filesystem::path& path() const { return path_; }

 private:
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
