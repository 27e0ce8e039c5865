// Files of text to look at: a trace, a page.
#pragma once
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <flowgraph/formats/file_error.hpp>
#include <flowgraph/formats/file_path.hpp>

namespace flowgraph::detail {

// Throws file_error.
inline void write_text(const file_path& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path.string(), std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) return;
  const std::string reason = std::generic_category().message(errno);
  throw file_error(problem::file_access, path.string(), {}, {"can't be written: ", reason});
}

}  // namespace flowgraph::detail
