// Which checkpoints of a training are kept, and what is known of one.
#pragma once
#include <cstdint>
#include <optional>

#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/formats/stored_tensor.hpp>
#include "checkpoint_options.hpp"

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
  file_path path;
  std::uint64_t step = 0;
  std::optional<double> metric;
  std::uint64_t save = 0;  // numbers the saves into a directory, whatever their steps are
};

}  // namespace flowgraph
