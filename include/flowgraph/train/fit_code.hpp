// Defines what fit.hpp declares: the loop.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <flowgraph/core/error.hpp>
#include "fit.hpp"
#include "progress.hpp"

namespace flowgraph::detail {

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

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF fit_history run_fit(const fit_work& work, const std::vector<std::string>& compared,
                                         const fit_options& o) {
  require_fit(o.epochs >= 0, "at least 0 epochs", o.epochs);
  require_fit(o.first_epoch >= 0, "a first epoch of at least 0", o.first_epoch);
  require_fit(o.first_epoch <= o.epochs, fmt::format("at most all of the {} epochs to be done already", o.epochs),
              o.first_epoch);
  require_fit(o.patience >= 0, "a patience of at least 0 epochs", o.patience);
  require_fit(!o.restore_best || !o.best.empty(), "a file for the best epoch, which is to be restored", 0);
  const int watched = monitored(compared, o);
  fit_history history;
  best_so_far best(o.better, o.min_delta);
  progress_display display(o.progress, o.output, o.epochs);
  std::int64_t batches = work.batches;
  for (int epoch = o.first_epoch; epoch < o.epochs && !history.stopped_early; ++epoch) {
    display.begin(epoch, batches);
    fit_epoch e;
    e.epoch = epoch;
    std::int64_t seen = 0;
    e.training = work.train(epoch, [&](std::int64_t rows, callback<std::vector<fit_value>()> values) {
      ++seen;
      display.add(rows, values);
    });
    batches = seen;
    e.validation = work.validate(epoch);
    e.seconds = display.epoch_seconds();
    if (watched >= 0) {
      const auto& values = e.validation.empty() ? e.training : e.validation;
      e.best = best.take(values[static_cast<std::size_t>(watched)].value);
      if (e.best) {
        history.best_epoch = epoch;
        history.best_value = best.value();
      }
    }
    if (e.best && !o.best.empty()) work.save(o.best, {{"epoch", std::to_string(epoch + 1)}});

    std::vector<fit_value> shown = e.training;
    for (const fit_value& v : e.validation) shown.push_back({"validation " + v.name, v.value});
    display.end(shown, e.best ? ", best" : "");
    const int last_good = history.best_epoch < 0 ? o.first_epoch - 1 : history.best_epoch;
    history.stopped_early = (o.patience > 0 && epoch - last_good >= o.patience) || (o.after_epoch && !o.after_epoch(e));
    history.epochs.push_back(std::move(e));
  }
  if (o.restore_best) {
    if (history.best_epoch < 0)
      throw argument_error(
          problem::fit_argument,
          fmt::format("fit: there is no best epoch to restore: \"{}\" was a number in none of {} epochs",
                      compared[static_cast<std::size_t>(watched)], history.epochs.size()));
    work.restore(o.best);
  }
  return history;
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
