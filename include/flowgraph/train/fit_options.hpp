// What fg::fit is asked, and what it tells.
#pragma once
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <flowgraph/checkpoint/series_options.hpp>
#include <flowgraph/formats/file_path.hpp>

namespace flowgraph {

enum class progress {
  automatic,  // a bar where the output is a terminal, else lines
  bar,
  lines,
  silent
};

struct fit_value {
  std::string name;
  double value = 0;
};

struct fit_epoch {
  int epoch = 0;  // from 0 on
  std::vector<fit_value> training, validation;
  double seconds = 0;
  bool best = false;  // of all so far
};

struct fit_history {
  std::vector<fit_epoch> epochs;
  int best_epoch = -1;  // -1: there is none, as nothing is compared or no value is a number
  // Of what is compared in the best epoch; without one it is not a number, which is better than nothing else.
  double best_value = std::numeric_limits<double>::quiet_NaN();
  bool stopped_early = false;  // by patience or after_epoch
};

struct fit_options {
  int epochs = 1;
  // Where a training goes on that was interrupted: how many epochs are done already. With all of them nothing is left
  // to do: the history is empty and the session stays as it is. More than all are refused.
  int first_epoch = 0;
  // The value that epochs are compared by: of validation if there is one, else of training. Empty: the first.
  std::string monitor = {};
  flowgraph::better better = flowgraph::better::lower;
  // Ends when so many epochs in a row were no better than the best before, by at least min_delta. 0: never.
  int patience = 0;
  double min_delta = 0;
  // A file for the best epoch's session, as fg::save writes it. Empty: none.
  file_path best = {};
  // The session ends as it was after the best epoch; needs `best`. Without a best epoch, as no value was a number or no
  // epoch was left to do, the training ends with an fg::argument_error, and the session is as the last epoch left it.
  bool restore_best = false;
  flowgraph::progress progress = flowgraph::progress::automatic;
  std::FILE* output = stderr;
  // Called after each epoch; false ends the training.
  std::function<bool(const fit_epoch&)> after_epoch = nullptr;
};

}  // namespace flowgraph
