// Defines what lines.hpp declares.
#pragma once
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <flowgraph/formats/file_error.hpp>
#include "lines.hpp"

namespace flowgraph::detail {

class line_reader {
 public:
  explicit line_reader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_ || std::filesystem::is_directory(path))
      throw file_error(problem::file_access, path, {}, {"can't be opened"});
  }

  std::optional<std::string> next() {
    std::string text;
    ++line_;
    if (!std::getline(file_, text)) {
      if (file_.eof()) return std::nullopt;
      throw file_error(problem::file_access, path_, {.line = line_}, {"can't be read"});
    }
    if (text.ends_with('\r')) text.pop_back();
    return text;
  }

 private:
  std::string path_;
  std::ifstream file_;
  long long line_ = 0;
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF lines_handle open_lines(const file_path& path) {
  return lines_handle(new line_reader(path.string()));
}
FLOWGRAPH_OTHER_HALF void give_back(line_reader* r) noexcept { delete r; }
FLOWGRAPH_OTHER_HALF std::optional<std::string> next_line(line_reader& r) { return r.next(); }

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
