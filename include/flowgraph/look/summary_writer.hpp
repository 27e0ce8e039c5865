// fg::summary_writer: what TensorBoard shows, as event files that it reads while they are written.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/arrays/borrow.hpp>
#include <flowgraph/core/handle.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_error.hpp>
#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/language/print.hpp>
#include <flowgraph/session/profile.hpp>

namespace flowgraph {

namespace detail {

class summary_file;
using summary_handle = handle<summary_file>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF summary_handle open_summary(const file_path& directory);
FLOWGRAPH_OTHER_HALF void give_back(summary_file* f) noexcept;
FLOWGRAPH_OTHER_HALF const file_path& path_of(const summary_file& f);
FLOWGRAPH_OTHER_HALF void add_scalar(summary_file& f, std::string_view tag, double value, std::int64_t step);
FLOWGRAPH_OTHER_HALF void add_histogram(summary_file& f, std::string_view tag, const borrowed& data, std::int64_t step);
FLOWGRAPH_OTHER_HALF void add_image(summary_file& f, std::string_view tag, const borrowed& data, std::int64_t step);
FLOWGRAPH_OTHER_HALF void add_text(summary_file& f, std::string_view tag, std::string_view words, std::int64_t step);
FLOWGRAPH_OTHER_HALF void add_graph(summary_file& f, const graph_view& g);
FLOWGRAPH_OTHER_HALF void add_profile(summary_file& f, const step_profile& step, const graph_view& g);

}  // namespace FLOWGRAPH_HALF

}  // namespace detail

//   fg::summary_writer log("runs/digits");
//   log.scalar("loss", loss, step);
// Then `tensorboard --logdir runs`. Each writer makes a file of its own in the directory; threads may share one. Tags
// group by what stands before their first '/'. Throws file_error.
class summary_writer {
 public:
  explicit summary_writer(const file_path& directory) : file_(detail::open_summary(directory)) {}

  const file_path& path() const { return detail::path_of(*file_); }

  void scalar(std::string_view tag, double value, std::int64_t step) { detail::add_scalar(*file_, tag, value, step); }

  // How the elements are distributed: of anything that can be fed. NaN and infinities are left out.
  template <feedable D>
  void histogram(std::string_view tag, const D& data, std::int64_t step) {
    detail::add_histogram(*file_, tag, detail::lent<D>(data).data, step);
  }

  // [height, width], [height, width, channels] or [images, height, width, channels] with 1 (gray), 2 (gray, alpha), 3
  // (red, green, blue) or 4 channels: bytes, or other numbers from 0 to 1. Needs libpng.
  template <feedable D>
  void image(std::string_view tag, const D& data, std::int64_t step) {
    detail::add_image(*file_, tag, detail::lent<D>(data).data, step);
  }

  // Markdown.
  void text(std::string_view tag, std::string_view words, std::int64_t step) {
    detail::add_text(*file_, tag, words, step);
  }

  // Of a model or of a graph that was built at run time: scopes, shapes, devices, source lines. One in a directory.
  template <viewed_graph G>
  void graph(const G& model) {
    detail::add_graph(*file_, model.view());
  }

  // The times and bytes of a step's nodes, beside the graph of the model that it ran: s.profile().back().
  template <viewed_graph G>
  void profile(const step_profile& step, const G& model) {
    detail::add_profile(*file_, step, model.view());
  }

 private:
  detail::summary_handle file_;
};

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "summary_writer_code.hpp"
#endif
