// fg::fit: the loop around a step in one call. Epochs, validation, early stopping, the best checkpoint, progress. All
// of it is made of what anybody can call: docs/training.md has the loop written out.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/checkpoint/checkpoint_series.hpp>
#include "each_batch.hpp"

namespace flowgraph {

struct fit_epoch {
  int epoch = 0;  // from 0 on
  std::vector<fit_value> training, validation;
  double seconds = 0;
  bool best = false;  // of all so far
};

struct fit_history {
  std::vector<fit_epoch> epochs;
  int best_epoch = -1;         // -1: nothing is compared
  double best_value = 0;       // of what is compared
  bool stopped_early = false;  // by patience or after_epoch
};

struct fit_options {
  int epochs = 1;
  // Where a training goes on that was interrupted: how many epochs are done already.
  int first_epoch = 0;
  // The value that epochs are compared by: of validation if there is one, else of training. Empty: the first.
  std::string monitor = {};
  flowgraph::better better = flowgraph::better::lower;
  // Ends when so many epochs in a row were no better than the best before, by at least min_delta. 0: never.
  int patience = 0;
  double min_delta = 0;
  // A file for the best epoch's session, as fg::save writes it. Empty: none.
  std::filesystem::path best = {};
  // The session ends as it was after the best epoch; needs `best`.
  bool restore_best = false;
  flowgraph::progress progress = flowgraph::progress::automatic;
  std::FILE* output = stderr;
  // Called after each epoch; false ends the training.
  std::function<bool(const fit_epoch&)> after_epoch = nullptr;
};

namespace detail {

// Whether a value is better than the best so far.
class best_so_far {
 public:
  best_so_far(better b, double min_delta) : better_(b), min_delta_(min_delta) {}

  bool take(double value) {
    if (std::isnan(value)) return false;
    const double gain = better_ == better::lower ? value_ - value : value - value_;
    if (any_ && !(gain > 0 && gain >= min_delta_)) return false;
    any_ = true;
    value_ = value;
    return true;
  }
  double value() const { return value_; }

 private:
  better better_;
  double min_delta_, value_ = 0;
  bool any_ = false;
};

// The place of the monitored value in the list of names; -1: there is none, and nobody asked.
inline int monitored(const std::vector<std::string>& names, const fit_options& o) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (o.monitor.empty() || names[i] == o.monitor) return static_cast<int>(i);
  const bool asked = !o.monitor.empty() || o.patience > 0 || !o.best.empty();
  if (!asked) return -1;
  std::string there;
  for (const std::string& name : names) there += (there.empty() ? "" : ", ") + name;
  throw argument_error(problem::fit_argument, fmt::format("fit: {}: monitor is \"{}\", the values are: {}",
                                                          sentence(problem::fit_argument), o.monitor, there));
}

inline void require_fit(bool ok, std::string_view what, std::int64_t given) {
  if (!ok) throw argument_error(problem::fit_argument, fmt::format("fit: expected {}, got {}", what, given));
}

// validate(epoch): the values of a validation, none where there is none.
template <class Session, class Training, class Validate>
fit_history run_fit(Session& s, const Training& training, const Validate& validate,
                    const std::vector<std::string>& compared, const fit_options& o) {
  require_fit(o.epochs >= 0, "at least 0 epochs", o.epochs);
  require_fit(o.first_epoch >= 0, "a first epoch of at least 0", o.first_epoch);
  require_fit(o.patience >= 0, "a patience of at least 0 epochs", o.patience);
  require_fit(!o.restore_best || !o.best.empty(), "a file for the best epoch, which is to be restored", 0);
  const int watched = monitored(compared, o);
  fit_history history;
  best_so_far best(o.better, o.min_delta);
  progress_display display(o.progress, o.output, o.epochs);
  std::int64_t batches = training.size();
  for (int epoch = o.first_epoch; epoch < o.epochs && !history.stopped_early; ++epoch) {
    display.begin(epoch, batches);
    fit_epoch e;
    e.epoch = epoch;
    std::int64_t seen = 0;
    e.training = training.run(s, static_cast<std::uint64_t>(epoch), [&](std::int64_t rows, const auto& values) {
      ++seen;
      display.add(rows, values);
    });
    batches = seen;
    e.validation = validate(epoch);
    e.seconds = display.epoch_seconds();
    if (watched >= 0) {
      const auto& values = e.validation.empty() ? e.training : e.validation;
      e.best = best.take(values[static_cast<std::size_t>(watched)].value);
      if (e.best) history.best_epoch = epoch;
      history.best_value = best.value();
    }
    if (e.best && !o.best.empty()) save(s, o.best, {}, {{"epoch", std::to_string(epoch + 1)}});

    std::vector<fit_value> shown = e.training;
    for (const fit_value& v : e.validation) shown.push_back({"validation " + v.name, v.value});
    display.end(shown, e.best ? ", best" : "");
    const int last_good = history.best_epoch < 0 ? o.first_epoch - 1 : history.best_epoch;
    history.stopped_early = (o.patience > 0 && epoch - last_good >= o.patience) || (o.after_epoch && !o.after_epoch(e));
    history.epochs.push_back(std::move(e));
  }
  if (o.restore_best && history.best_epoch >= 0) restore(s, o.best);
  return history;
}

}  // namespace detail

// auto history = fg::fit(s, fg::each<"loss", "train">(batches, fg::into<"x", "y">), {.epochs = 10});
template <class Session, class Training>
  requires detail::is_each_batch<Training>
fit_history fit(Session& s, const Training& training, const fit_options& options = {}) {
  return detail::run_fit(
      s, training, [](int) { return std::vector<fit_value>(); }, training.names(s), options);
}
// With a validation after each epoch, which does not change the model:
//   fg::fit(s, fg::each<"loss", "train">(batches, fg::into<"x", "y">),
//           fg::each<"loss", "accuracy">(held_out, fg::into<"x", "y">),
//           {.epochs = 50, .patience = 5, .best = "best.safetensors", .restore_best = true});
template <class Session, class Training, class Validation>
  requires(detail::is_each_batch<Training> && detail::is_each_batch<Validation>)
fit_history fit(Session& s, const Training& training, const Validation& validation, const fit_options& options = {}) {
  const auto validate = [&](int) { return validation.run(s, 0, [](std::int64_t, const auto&) {}); };
  return detail::run_fit(s, training, validate, validation.names(s), options);
}

}  // namespace flowgraph
