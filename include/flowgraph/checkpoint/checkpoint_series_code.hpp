// Defines what checkpoint_series.hpp declares.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <flowgraph/formats/durable_file.hpp>
#include <flowgraph/formats/real_text.hpp>
#include "background.hpp"
#include "checkpoint_series.hpp"
#include "session_copy.hpp"

namespace flowgraph::detail {

inline constexpr const char *metric_key = "flowgraph.metric", *save_key = "flowgraph.save";
inline constexpr std::string_view series_prefix = "checkpoint-", series_suffix = ".safetensors";

// Names sort as steps do, up to 10^12.
inline std::string series_file_name(std::uint64_t step) {
  return fmt::format("{}{:012}{}", series_prefix, step, series_suffix);
}
// The step of "checkpoint-000000000100.safetensors"; nothing for other names.
inline std::optional<std::uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(series_prefix) || name.size() < series_prefix.size() + series_suffix.size()) return {};
  std::uint64_t step = 0;
  std::from_chars(name.data() + series_prefix.size(), name.data() + name.size(), step);
  if (name != series_file_name(step)) return {};
  return step;
}

// In no order. A file that vanishes meanwhile was removed by who writes.
inline std::vector<series_entry> series_files(const std::string& directory) {
  std::vector<series_entry> found;
  const bool read = for_each_name(directory, [&](std::string_view name) {
    const auto step = step_of(name);
    if (!step) return;
    const std::string path = directory + "/" + std::string(name);
    struct stat facts;
    if (::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode))
      found.push_back({.path = path, .step = *step, .metric = {}});
  });
  if (!read) {
    const std::string why = std::generic_category().message(errno);
    throw file_error(problem::file_access, directory, {}, {"expected a directory: ", why});
  }
  return found;
}
// Whether it is complete; if so, with what was noted in it.
inline bool look_into(series_entry& e) {
  try {
    const safetensors_file file(e.path);
    const auto noted = [&file](const char* key) -> std::string_view {
      const auto found = file.metadata().find(key);
      return found == file.metadata().end() ? std::string_view() : found->second;
    };
    const std::string_view metric = noted(metric_key), save = noted(save_key);
    double value = 0;
    if (read_real(metric.data(), metric.data() + metric.size(), value).ec == std::errc{}) e.metric = value;
    std::from_chars(save.data(), save.data() + save.size(), e.save);
    return true;
  } catch (const file_error&) {
    return false;
  }
}
// As they were saved: who goes on from an earlier step saves later what has a smaller number.
inline std::vector<series_entry> complete_files(const std::string& directory) {
  std::vector<series_entry> all = series_files(directory);
  std::erase_if(all, [](series_entry& e) { return !look_into(e); });
  std::sort(all.begin(), all.end(), [](const series_entry& a, const series_entry& b) {
    return a.save != b.save ? a.save < b.save : a.step < b.step;
  });
  return all;
}
// Best first, of equals the newest; without those that have none.
inline void sort_by_metric(std::vector<series_entry>& all, flowgraph::better better) {
  std::erase_if(all, [](const series_entry& e) { return !e.metric || std::isnan(*e.metric); });
  std::sort(all.begin(), all.end(), [better](const series_entry& a, const series_entry& b) {
    if (*a.metric != *b.metric) return (*a.metric < *b.metric) == (better == flowgraph::better::lower);
    return a.save != b.save ? a.save > b.save : a.step > b.step;
  });
}

// Removes what need not stay. all: as they were saved.
inline void tidy(const std::vector<series_entry>& all, const series_options& o) {
  if (o.keep_last <= 0) return;
  std::vector<series_entry> old = all, best = all;
  old.resize(old.size() - std::min(old.size(), static_cast<std::size_t>(o.keep_last)));
  sort_by_metric(best, o.better);
  best.resize(std::min(best.size(), static_cast<std::size_t>(std::max(0, o.keep_best))));
  for (const series_entry& e : old)
    if (std::none_of(best.begin(), best.end(), [&](const series_entry& b) { return b.step == e.step; }))
      ::unlink(e.path.c_str());
}

// The last copy that was written: its memory serves the next one.
class spare_copy {
 public:
  session_copy take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(copy_, {});
  }
  void give(session_copy copy) {
    const std::lock_guard lock(mutex_);
    copy_ = std::move(copy);
  }

 private:
  std::mutex mutex_;
  session_copy copy_;
};

class series_writer {
 public:
  series_writer(std::string directory, series_options options)
      : directory_(std::move(directory)),
        options_(std::move(options)) {
    make_directories(directory_);
    series_files(directory_);
  }

  const std::string& directory() const { return directory_; }
  const series_options& options() const { return options_; }

  void save(engine& e, std::uint64_t step, const checkpoint_note& note) {
    auto copy = std::make_shared<session_copy>(copy_session(e, options_.checkpoint, note.metadata, spare_->take()));
    if (note.metric) copy->metadata[metric_key] = fmt::format("{}", *note.metric);
    writer_.post([directory = directory_, options = options_, step, metric = note.metric, copy, spare = spare_] {
      remove_leftovers(directory, [](std::string_view name) { return step_of(name).has_value(); });
      std::vector<series_entry> all = complete_files(directory);
      const std::uint64_t save = all.empty() ? 1 : all.back().save + 1;
      const std::string path = directory + "/" + series_file_name(step);
      copy->metadata[save_key] = std::to_string(save);
      write_safetensors(path, copy->tensors, copy->metadata);
      spare->give(std::move(*copy));
      std::erase_if(all, [step](const series_entry& old) { return old.step == step; });
      all.push_back({.path = path, .step = step, .metric = metric, .save = save});
      tidy(all, options);
    });
  }
  void wait() { writer_.wait(); }

 private:
  std::string directory_;
  series_options options_;
  std::shared_ptr<spare_copy> spare_ = std::make_shared<spare_copy>();
  background writer_{2};
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF series_handle begin_series(const file_path& directory, series_options options) {
  return series_handle(new series_writer(directory.string(), std::move(options)));
}
FLOWGRAPH_OTHER_HALF void give_back(series_writer* w) noexcept { delete w; }
FLOWGRAPH_OTHER_HALF void save_in_series(series_writer& w, engine& e, std::uint64_t step, const checkpoint_note& note) {
  w.save(e, step, note);
}
FLOWGRAPH_OTHER_HALF void wait_for_series(series_writer& w) { w.wait(); }
FLOWGRAPH_OTHER_HALF std::vector<series_entry> entries_of(const series_writer& w) {
  return complete_files(w.directory());
}
FLOWGRAPH_OTHER_HALF std::optional<series_entry> latest_of(const series_writer& w) {
  const std::vector<series_entry> all = entries_of(w);
  if (all.empty()) return {};
  return all.back();
}
FLOWGRAPH_OTHER_HALF std::optional<series_entry> best_of(const series_writer& w) {
  std::vector<series_entry> all = entries_of(w);
  sort_by_metric(all, w.options().better);
  if (all.empty()) return {};
  return all.front();
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
