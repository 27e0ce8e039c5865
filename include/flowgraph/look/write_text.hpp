// Files of text to look at: a trace, a page.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <flowgraph/io/file_error.hpp>

namespace flowgraph::detail {

// Throws file_error.
inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw file_error(problem::file_access, path.string(), {}, {"can't be written"});
}

}  // namespace flowgraph::detail
