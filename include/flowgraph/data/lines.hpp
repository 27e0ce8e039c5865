// The lines of a text file, one at a time: for files larger than memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include <flowgraph/formats/file_error.hpp>
#include "dataset.hpp"

namespace flowgraph {

namespace detail {

struct line_source {
  std::filesystem::path path;

  struct pass {
    const line_source* from;
    std::ifstream file;
    long long line = 0;

    std::optional<std::string> next() {
      std::string text;
      ++line;
      if (!std::getline(file, text)) {
        if (file.eof()) return std::nullopt;
        throw file_error(problem::file_access, from->path.string(), {.line = line}, {"can't be read"});
      }
      if (text.ends_with('\r')) text.pop_back();
      return text;
    }
  };
  pass open(std::uint64_t) const {
    pass p{this, std::ifstream(path, std::ios::binary)};
    if (!p.file || std::filesystem::is_directory(path))
      throw file_error(problem::file_access, path.string(), {}, {"can't be opened"});
    return p;
  }
};

}  // namespace detail

// A dataset of std::string, without "\n" or "\r\n". Throws file_error at once where the file can't be opened.
inline auto lines(std::filesystem::path path) {
  detail::line_source source{std::move(path)};
  source.open(0);
  return dataset<detail::line_source>(std::move(source));
}

}  // namespace flowgraph
