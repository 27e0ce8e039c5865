// fg::save_png: an array as a picture. The file is there whole or not at all.
#pragma once
#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/core/other_half.hpp>
#include "file_error.hpp"
#include "file_path.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void write_png(const file_path& path, const borrowed& data);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// [height, width], or [height, width, channels] with 1 (gray), 2 (gray, alpha), 3 (red, green, blue) or 4 (with alpha)
// of them. Bytes as they are; other numbers from 0 to 1, what lies outside is cut off. Throws file_error, and
// argument_error for other channels.
template <feedable D>
void save_png(const file_path& path, const D& data) {
  constexpr const detail::data_layout& layout = detail::data_layout_of<D>();
  static_assert(!layout.flat && (layout.rank == 2 || layout.rank == 3),
                "save_png: a picture must be [height, width] or [height, width, channels]");
  detail::write_png(path, detail::lent<D>(data).data);
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "save_png_code.hpp"
#endif
