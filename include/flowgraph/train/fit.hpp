// fg::fit: the loop around a step in one call. Epochs, validation, early stopping, the best checkpoint, progress. All
// of it is made of what anybody can call: docs/training.md has the loop written out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <flowgraph/checkpoint/checkpoint.hpp>
#include <flowgraph/core/callback.hpp>
#include <flowgraph/core/other_half.hpp>
#include "each_batch.hpp"
#include "fit_options.hpp"

namespace flowgraph {

namespace detail {

// What the loop does with a session, whatever its type.
struct fit_work {
  std::int64_t batches;  // of an epoch, where they are known; else 0
  // The values of an epoch.
  callback<std::vector<fit_value>(int epoch, after_batch after)> train;
  // None where there is no validation.
  callback<std::vector<fit_value>(int epoch)> validate;
  callback<void(const file_path&, const file_metadata&)> save;
  callback<void(const file_path&)> restore;
};

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF fit_history run_fit(const fit_work& work, const std::vector<std::string>& compared,
                                         const fit_options& o);

}  // namespace FLOWGRAPH_HALF

template <class Session, class Training>
fit_history fit_session(Session& s, const Training& training, callback<std::vector<fit_value>(int)> validate,
                        const std::vector<std::string>& compared, const fit_options& o) {
  const auto train = [&](int epoch, after_batch after) {
    return training.run(s, static_cast<std::uint64_t>(epoch), after);
  };
  const auto save_best = [&](const file_path& path, const file_metadata& m) { save(s, path, {}, m); };
  const auto restore_best = [&](const file_path& path) { restore(s, path); };
  return run_fit({training.size(), train, validate, save_best, restore_best}, compared, o);
}

}  // namespace detail

// auto history = fg::fit(s, fg::each<"loss", "train">(batches, fg::into<"x", "y">), {.epochs = 10});
template <class Session, class Training>
  requires detail::is_each_batch<Training>
fit_history fit(Session& s, const Training& training, const fit_options& options = {}) {
  const auto none = [](int) { return std::vector<fit_value>(); };
  return detail::fit_session(s, training, none, training.names(s), options);
}
// With a validation after each epoch, which does not change the model:
//   fg::fit(s, fg::each<"loss", "train">(batches, fg::into<"x", "y">),
//           fg::each<"loss", "accuracy">(held_out, fg::into<"x", "y">),
//           {.epochs = 50, .patience = 5, .best = "best.safetensors", .restore_best = true});
template <class Session, class Training, class Validation>
  requires(detail::is_each_batch<Training> && detail::is_each_batch<Validation>)
fit_history fit(Session& s, const Training& training, const Validation& validation, const fit_options& options = {}) {
  const auto validate = [&](int) { return validation.run(s, 0, [](std::int64_t, const auto&) {}); };
  return detail::fit_session(s, training, validate, validation.names(s), options);
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "fit_code.hpp"
#endif
