// fg::checkpoint_series: a directory of checkpoints of one training. Saves in the background, keeps the last and the
// best ones, and finds where to go on after whatever ended the program.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <flowgraph/formats/real_text.hpp>
#include "background.hpp"
#include "checkpoint.hpp"

namespace flowgraph {

enum class better { lower, higher };

struct series_options {
  // As many of the newest stay; 0: all.
  int keep_last = 5;
  // And as many with the best metric, old or new.
  int keep_best = 0;
  flowgraph::better better = flowgraph::better::lower;
  checkpoint_options checkpoint = {};
};

// What a checkpoint of a series is saved with.
struct checkpoint_note {
  std::optional<double> metric = {};  // what keep_best compares, such as the validation loss; NaN is never the best
  file_metadata metadata = {};
};

struct series_entry {
  std::filesystem::path path;
  std::uint64_t step = 0;
  std::optional<double> metric;
};

// One program writes into a directory; any number may read there. Of one object, one function is called at a time.
class checkpoint_series {
 public:
  // The directory is made if it is not there. What else lies in it is left alone.
  explicit checkpoint_series(std::filesystem::path directory, series_options options = {})
      : directory_(std::move(directory)),
        options_(std::move(options)) {
    std::error_code ec;
    std::filesystem::create_directories(directory_, ec);
    files_of(directory_);
  }

  // Comes back when the copy of the session is made; it is written meanwhile. What goes wrong then is thrown by the
  // next call of save_async, save or wait. When two copies wait already, this waits for one of them.
  template <class Session>
  void save_async(Session& s, std::uint64_t step, const checkpoint_note& note = {}) {
    auto copy = std::make_shared<detail::session_copy>(
        detail::copy_session(s, options_.checkpoint, note.metadata, spare_->take()));
    if (note.metric) copy->metadata[metric_key] = fmt::format("{}", *note.metric);
    writer_->post([directory = directory_, options = options_, step, copy, spare = spare_] {
      write_safetensors(directory / file_name(step), copy->tensors, copy->metadata);
      spare->give(std::move(*copy));
      tidy(directory, options);
    });
  }
  // Comes back when the file is safe.
  template <class Session>
  void save(Session& s, std::uint64_t step, const checkpoint_note& note = {}) {
    save_async(s, step, note);
    wait();
  }
  // Until everything is written.
  void wait() { writer_->wait(); }

  // Those that are complete, oldest first.
  std::vector<series_entry> entries() const { return complete(directory_); }
  std::optional<series_entry> latest() const {
    std::vector<series_entry> all = named(directory_);
    while (!all.empty() && !look_into(all.back())) all.pop_back();
    if (all.empty()) return {};
    return all.back();
  }
  // Of those with a metric.
  std::optional<series_entry> best() const {
    std::vector<series_entry> all = entries();
    sort_by_metric(all, options_.better);
    if (all.empty()) return {};
    return all.front();
  }

 private:
  // The last copy that was written: its memory serves the next one.
  class spare_copy {
   public:
    detail::session_copy take() {
      const std::lock_guard lock(mutex_);
      return std::exchange(copy_, {});
    }
    void give(detail::session_copy copy) {
      const std::lock_guard lock(mutex_);
      copy_ = std::move(copy);
    }

   private:
    std::mutex mutex_;
    detail::session_copy copy_;
  };

  static constexpr const char* metric_key = "flowgraph.metric";
  static constexpr std::string_view prefix = "checkpoint-", suffix = ".safetensors";

  // Names sort as steps do, up to 10^12.
  static std::string file_name(std::uint64_t step) { return fmt::format("{}{:012}{}", prefix, step, suffix); }
  // The step of "checkpoint-000000000100.safetensors"; nothing for other names.
  static std::optional<std::uint64_t> step_of(const std::string& name) {
    if (!name.starts_with(prefix) || name.size() < prefix.size() + suffix.size()) return {};
    std::uint64_t step = 0;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
    if (name != file_name(step)) return {};
    return step;
  }

  static std::filesystem::directory_iterator files_of(const std::filesystem::path& directory) {
    std::error_code ec;
    std::filesystem::directory_iterator files(directory, ec);
    if (ec) throw file_error(problem::file_access, directory.string(), {}, {"expected a directory: ", ec.message()});
    return files;
  }
  // By name, in the order of steps. A file that vanishes meanwhile was removed by who writes.
  static std::vector<series_entry> named(const std::filesystem::path& directory) {
    std::vector<series_entry> found;
    for (const auto& file : files_of(directory))
      if (const auto step = step_of(file.path().filename().string())) found.push_back({file.path(), *step, {}});
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    return found;
  }
  // Whether it is complete; if so, with its metric.
  static bool look_into(series_entry& e) {
    try {
      const safetensors_file file(e.path);
      const auto noted = file.metadata().find(metric_key);
      if (noted == file.metadata().end()) return true;
      const std::string& text = noted->second;
      double metric = 0;
      if (detail::read_real(text.data(), text.data() + text.size(), metric).ec == std::errc{}) e.metric = metric;
      return true;
    } catch (const file_error&) {
      return false;
    }
  }
  static std::vector<series_entry> complete(const std::filesystem::path& directory) {
    std::vector<series_entry> all = named(directory);
    std::erase_if(all, [](series_entry& e) { return !look_into(e); });
    return all;
  }
  // Best first, of equals the newest; without those that have none.
  static void sort_by_metric(std::vector<series_entry>& all, flowgraph::better better) {
    std::erase_if(all, [](const series_entry& e) { return !e.metric || std::isnan(*e.metric); });
    std::sort(all.begin(), all.end(), [better](const series_entry& a, const series_entry& b) {
      if (*a.metric != *b.metric) return (*a.metric < *b.metric) == (better == flowgraph::better::lower);
      return a.step > b.step;
    });
  }

  // Removes what need not stay, and what was being written when an earlier program ended.
  static void tidy(const std::filesystem::path& directory, const series_options& o) {
    std::error_code ignored;
    for (const auto& file : files_of(directory)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(prefix) && name.ends_with(detail::temporary_suffix))
        std::filesystem::remove(file.path(), ignored);
    }
    if (o.keep_last <= 0) return;
    std::vector<series_entry> old = complete(directory), best = old;
    old.resize(old.size() - std::min(old.size(), static_cast<std::size_t>(o.keep_last)));
    sort_by_metric(best, o.better);
    best.resize(std::min(best.size(), static_cast<std::size_t>(std::max(0, o.keep_best))));
    for (const series_entry& e : old)
      if (std::none_of(best.begin(), best.end(), [&](const series_entry& b) { return b.step == e.step; }))
        std::filesystem::remove(e.path, ignored);
  }

  std::filesystem::path directory_;
  series_options options_;
  std::shared_ptr<spare_copy> spare_ = std::make_shared<spare_copy>();
  std::unique_ptr<detail::background> writer_ = std::make_unique<detail::background>(2);
};

}  // namespace flowgraph
