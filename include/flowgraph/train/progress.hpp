// How far a training is: a bar that is drawn again and again on a terminal, a line an epoch anywhere else.
#pragma once
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <flowgraph/core/callback.hpp>
#include "fit_options.hpp"

namespace flowgraph::detail {

// 7 -> 0:07, 3723 -> 1:02:03
inline std::string clock_text(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds + 0.5);
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

inline std::string values_text(const std::vector<fit_value>& values, std::string_view separator) {
  std::string text;
  for (const fit_value& v : values) text += fmt::format("{}{} {:.4g}", separator, v.name, v.value);
  return text;
}

inline bool is_terminal(std::FILE* file) {
#ifdef _WIN32
  return ::_isatty(::_fileno(file)) != 0;
#else
  return ::isatty(::fileno(file)) != 0;
#endif
}

class progress_display {
 public:
  progress_display(progress how, std::FILE* out, int epochs) : how_(how), out_(out), epochs_(epochs) {
    if (how_ == progress::automatic) how_ = is_terminal(out) ? progress::bar : progress::lines;
  }
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;
  ~progress_display() { clear(); }

  // batches: of the epoch, where they are known; else 0. epoch: from 0 on.
  void begin(int epoch, std::int64_t batches) {
    epoch_ = epoch;
    batches_ = batches;
    done_ = rows_ = 0;
    epoch_began_ = clock::now();
    drawn_ = {};
  }
  // After each batch. Drawn ten times a second: more often nobody sees.
  void add(std::int64_t rows, callback<std::vector<fit_value>()> values) {
    ++done_;
    ++done_in_all_;
    rows_ += rows;
    const clock::time_point now = clock::now();
    if (how_ != progress::bar || now - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    put(fmt::format("\r\033[K{} {}  {:.0f} rows/s{}{}", title(), bar(), rate(now), left(now),
                    values_text(values(), "  ")));
    shown_ = true;
  }
  void end(const std::vector<fit_value>& values, std::string_view remark) {
    if (how_ == progress::silent) return;
    const clock::time_point now = clock::now();
    clear();
    put(fmt::format("{}: {:.1f} s, {:.0f} rows/s{}{}\n", title(), seconds(now - epoch_began_), rate(now),
                    values_text(values, ", "), remark));
  }
  double epoch_seconds() const { return seconds(clock::now() - epoch_began_); }

 private:
  using clock = std::chrono::steady_clock;

  static double seconds(clock::duration d) { return std::chrono::duration<double>(d).count(); }

  std::string title() const { return fmt::format("epoch {}/{}", epoch_ + 1, epochs_); }
  double rate(clock::time_point now) const {
    return static_cast<double>(rows_) / std::max(1e-9, seconds(now - epoch_began_));
  }
  std::string bar() const {
    if (batches_ <= 0) return fmt::format("{} batches", done_);
    constexpr std::int64_t width = 24;
    const auto full = static_cast<std::size_t>(std::min(width, width * done_ / batches_));
    return fmt::format("[{:<{}}] {}/{}", std::string(full, '='), width, done_, batches_);
  }
  // Until all epochs are done, at the pace so far, what lies between them included.
  std::string left(clock::time_point now) const {
    if (batches_ <= 0) return "";
    const std::int64_t ahead = batches_ - done_ + batches_ * (epochs_ - epoch_ - 1);
    const double each = seconds(now - began_) / static_cast<double>(done_in_all_);
    return fmt::format("  {} left", clock_text(each * static_cast<double>(std::max<std::int64_t>(0, ahead))));
  }
  void clear() {
    if (shown_) put("\r\033[K");
    shown_ = false;
  }
  void put(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
  }

  progress how_;
  std::FILE* out_;
  int epochs_, epoch_ = 0;
  std::int64_t batches_ = 0, done_ = 0, done_in_all_ = 0, rows_ = 0;
  clock::time_point began_ = clock::now(), epoch_began_ = began_, drawn_ = {};
  bool shown_ = false;
};

}  // namespace flowgraph::detail
