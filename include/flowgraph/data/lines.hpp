// The lines of a text file, one at a time: for files larger than memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <flowgraph/core/handle.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_error.hpp>
#include <flowgraph/formats/file_path.hpp>
#include "dataset.hpp"

namespace flowgraph {

namespace detail {

class line_reader;
using lines_handle = handle<line_reader>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF lines_handle open_lines(const file_path& path);
FLOWGRAPH_OTHER_HALF void give_back(line_reader* r) noexcept;
FLOWGRAPH_OTHER_HALF std::optional<std::string> next_line(line_reader& r);

}  // namespace FLOWGRAPH_HALF

struct line_source {
  file_path path;

  struct pass {
    lines_handle reader;

    std::optional<std::string> next() { return next_line(*reader); }
  };
  pass open(std::uint64_t) const { return {open_lines(path)}; }
};

}  // namespace detail

// A dataset of std::string, without "\n" or "\r\n". Throws file_error at once where the file can't be opened.
inline auto lines(file_path path) {
  detail::line_source source{std::move(path)};
  source.open(0);
  return dataset<detail::line_source>(std::move(source));
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "lines_code.hpp"
#endif
