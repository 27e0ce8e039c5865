// Defines what summary_writer.hpp declares: TensorFlow's messages Event and Summary.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "summary_file.hpp"
#include "summary_graph.hpp"
#include "summary_values.hpp"
#include "summary_writer.hpp"

namespace flowgraph::detail {

template <class Body>
void add_event(summary_file& f, std::int64_t step, const Body& body) {
  std::string bytes;
  protozero::pbf_writer e(bytes);
  e.add_double(1, seconds_now());
  e.add_int64(2, step);
  body(e);
  f.write(bytes);
}
template <class Body>
void add_summary(summary_file& f, std::string_view tag, std::int64_t step, const Body& body) {
  add_event(f, step, [&](protozero::pbf_writer& e) {
    submessage(e, 5, [&](protozero::pbf_writer& s) {
      submessage(s, 1, [&](protozero::pbf_writer& value) {
        value.add_string(1, tag.data(), tag.size());
        body(value);
      });
    });
  });
}
// A list of strings, or one, for the plugin that shows it.
inline void add_strings(summary_file& f, std::string_view tag, std::string_view plugin,
                        const std::vector<std::string>& strings, bool list, std::int64_t step) {
  constexpr int string_type = 7;
  add_summary(f, tag, step, [&](protozero::pbf_writer& value) {
    submessage(value, 9, [&](protozero::pbf_writer& metadata) {
      submessage(metadata, 1, [&](protozero::pbf_writer& p) { p.add_string(1, plugin.data(), plugin.size()); });
    });
    submessage(value, 8, [&](protozero::pbf_writer& tensor) {
      tensor.add_enum(1, string_type);
      submessage(tensor, 2, [&](protozero::pbf_writer& shape) {
        if (list)
          submessage(shape, 2,
                     [&](protozero::pbf_writer& dim) { dim.add_int64(1, static_cast<std::int64_t>(strings.size())); });
      });
      for (const std::string& s : strings) tensor.add_bytes(8, s);
    });
  });
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF summary_handle open_summary(const file_path& directory) {
  summary_handle file(new summary_file(directory));
  add_event(*file, 0, [](protozero::pbf_writer& e) { e.add_string(3, "brain.Event:2"); });
  return file;
}
FLOWGRAPH_OTHER_HALF void give_back(summary_file* f) noexcept { delete f; }
FLOWGRAPH_OTHER_HALF const file_path& path_of(const summary_file& f) { return f.path(); }

FLOWGRAPH_OTHER_HALF void add_scalar(summary_file& f, std::string_view tag, double value, std::int64_t step) {
  add_summary(f, tag, step, [&](protozero::pbf_writer& to) { to.add_float(2, static_cast<float>(value)); });
}

FLOWGRAPH_OTHER_HALF void add_histogram(summary_file& f, std::string_view tag, const borrowed& data,
                                        std::int64_t step) {
  const histogram_counts h(data);
  add_summary(f, tag, step, [&](protozero::pbf_writer& to) {
    submessage(to, 5, [&](protozero::pbf_writer& m) {
      m.add_double(1, h.min);
      m.add_double(2, h.max);
      m.add_double(3, static_cast<double>(h.count));
      m.add_double(4, h.sum);
      m.add_double(5, h.squares);
      m.add_packed_double(6, h.limits.begin(), h.limits.end());
      m.add_packed_double(7, h.counts.begin(), h.counts.end());
    });
  });
}

FLOWGRAPH_OTHER_HALF void add_image(summary_file& f, std::string_view tag, const borrowed& data, std::int64_t step) {
  const encoded_images images = encode_images(tag, data);
  std::vector<std::string> strings{std::to_string(images.width), std::to_string(images.height)};
  strings.insert(strings.end(), images.files.begin(), images.files.end());
  add_strings(f, tag, "images", strings, true, step);
}

FLOWGRAPH_OTHER_HALF void add_text(summary_file& f, std::string_view tag, std::string_view words, std::int64_t step) {
  add_strings(f, tag, "text", {std::string(words)}, false, step);
}

FLOWGRAPH_OTHER_HALF void add_graph(summary_file& f, const graph_view& g) {
  add_event(f, 0, [&](protozero::pbf_writer& e) { e.add_bytes(4, graph_def(g)); });
}

FLOWGRAPH_OTHER_HALF void add_profile(summary_file& f, const step_profile& step, const graph_view& g) {
  const auto now = static_cast<std::int64_t>(seconds_now() * 1e6);
  const std::string metadata = run_metadata(step, g, now);
  add_event(f, static_cast<std::int64_t>(step.step), [&](protozero::pbf_writer& e) {
    submessage(e, 8, [&](protozero::pbf_writer& tagged) {
      tagged.add_string(1, fmt::format("step {}", step.step));
      tagged.add_bytes(2, metadata);
    });
  });
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
