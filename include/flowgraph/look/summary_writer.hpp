// fg::summary_writer: what TensorBoard shows, as event files that it reads while they are written.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/language/print.hpp>
#include "summary_file.hpp"
#include "summary_graph.hpp"
#include "summary_values.hpp"

namespace flowgraph {

//   fg::summary_writer log("runs/digits");
//   log.scalar("loss", loss, step);
// Then `tensorboard --logdir runs`. Each writer makes a file of its own in the directory; threads may share one. Tags
// group by what stands before their first '/'. Throws file_error.
class summary_writer {
 public:
  explicit summary_writer(const std::filesystem::path& directory) : file_(directory) {
    event(0, [](protozero::pbf_writer& e) { e.add_string(3, "brain.Event:2"); });
  }

  const std::filesystem::path& path() const { return file_.path(); }

  void scalar(std::string_view tag, double value, std::int64_t step) {
    summary(tag, step, [&](protozero::pbf_writer& to) { to.add_float(2, static_cast<float>(value)); });
  }

  // How the elements are distributed: of anything that can be fed. NaN and infinities are left out.
  template <feedable D>
  void histogram(std::string_view tag, const D& data, std::int64_t step) {
    const detail::lent<D> from(data);
    const detail::histogram_counts h(from.data);
    summary(tag, step, [&](protozero::pbf_writer& to) {
      detail::submessage(to, 5, [&](protozero::pbf_writer& m) {
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

  // [height, width], [height, width, channels] or [images, height, width, channels] with 1 (gray), 2 (gray, alpha), 3
  // (red, green, blue) or 4 channels: bytes, or other numbers from 0 to 1. Needs libpng.
  template <feedable D>
  void image(std::string_view tag, const D& data, std::int64_t step) {
    const detail::lent<D> from(data);
    const detail::encoded_images images = detail::encode_images(tag, from.data);
    std::vector<std::string> strings{std::to_string(images.width), std::to_string(images.height)};
    strings.insert(strings.end(), images.files.begin(), images.files.end());
    text_tensor(tag, "images", strings, true, step);
  }

  // Markdown.
  void text(std::string_view tag, std::string_view words, std::int64_t step) {
    text_tensor(tag, "text", {std::string(words)}, false, step);
  }

  // Of a model or of a graph that was built at run time: scopes, shapes, devices, source lines. One in a directory.
  template <viewed_graph G>
  void graph(const G& model) {
    event(0, [&](protozero::pbf_writer& e) { e.add_bytes(4, detail::graph_def(model.view())); });
  }

  // The times and bytes of a step's nodes, beside the graph of the model that it ran: s.profile().back().
  template <viewed_graph G>
  void profile(const step_profile& step, const G& model) {
    const auto now = static_cast<std::int64_t>(detail::seconds_now() * 1e6);
    const std::string metadata = detail::run_metadata(step, model.view(), now);
    event(static_cast<std::int64_t>(step.step), [&](protozero::pbf_writer& e) {
      detail::submessage(e, 8, [&](protozero::pbf_writer& tagged) {
        tagged.add_string(1, fmt::format("step {}", step.step));
        tagged.add_bytes(2, metadata);
      });
    });
  }

 private:
  template <class Body>
  void event(std::int64_t step, const Body& body) {
    std::string bytes;
    protozero::pbf_writer e(bytes);
    e.add_double(1, detail::seconds_now());
    e.add_int64(2, step);
    body(e);
    file_.write(bytes);
  }
  template <class Body>
  void summary(std::string_view tag, std::int64_t step, const Body& body) {
    event(step, [&](protozero::pbf_writer& e) {
      detail::submessage(e, 5, [&](protozero::pbf_writer& s) {
        detail::submessage(s, 1, [&](protozero::pbf_writer& value) {
          value.add_string(1, tag.data(), tag.size());
          body(value);
        });
      });
    });
  }
  // A list of strings, or one, for the plugin that shows it.
  void text_tensor(std::string_view tag, std::string_view plugin, const std::vector<std::string>& strings, bool list,
                   std::int64_t step) {
    constexpr int string_type = 7;
    summary(tag, step, [&](protozero::pbf_writer& value) {
      detail::submessage(value, 9, [&](protozero::pbf_writer& metadata) {
        detail::submessage(metadata, 1,
                           [&](protozero::pbf_writer& p) { p.add_string(1, plugin.data(), plugin.size()); });
      });
      detail::submessage(value, 8, [&](protozero::pbf_writer& tensor) {
        tensor.add_enum(1, string_type);
        detail::submessage(tensor, 2, [&](protozero::pbf_writer& shape) {
          if (list)
            detail::submessage(shape, 2, [&](protozero::pbf_writer& dim) {
              dim.add_int64(1, static_cast<std::int64_t>(strings.size()));
            });
        });
        for (const std::string& s : strings) tensor.add_bytes(8, s);
      });
    });
  }

  detail::summary_file file_;
};

}  // namespace flowgraph
