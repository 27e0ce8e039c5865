// fg::checkpoint_series: a directory of checkpoints of one training. Saves in the background, keeps the last and the
// best ones, and finds where to go on after whatever ended the program.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <flowgraph/core/handle.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/formats/stored_tensor.hpp>
#include <flowgraph/session/session_access.hpp>
#include "series_options.hpp"

namespace flowgraph {

namespace detail {

// The directory, and the thread that writes there.
class series_writer;
using series_handle = handle<series_writer>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF series_handle begin_series(const file_path& directory, series_options options);
// Ends when everything is written.
FLOWGRAPH_OTHER_HALF void give_back(series_writer* w) noexcept;
FLOWGRAPH_OTHER_HALF void save_in_series(series_writer& w, engine& e, std::uint64_t step, const checkpoint_note& note);
FLOWGRAPH_OTHER_HALF void wait_for_series(series_writer& w);
FLOWGRAPH_OTHER_HALF std::vector<series_entry> entries_of(const series_writer& w);
FLOWGRAPH_OTHER_HALF std::optional<series_entry> latest_of(const series_writer& w);
FLOWGRAPH_OTHER_HALF std::optional<series_entry> best_of(const series_writer& w);

}  // namespace FLOWGRAPH_HALF

}  // namespace detail

// One program writes into a directory; any number may read there. Of one object, one function is called at a time.
class checkpoint_series {
 public:
  // The directory is made if it is not there. What else lies in it is left alone.
  explicit checkpoint_series(const file_path& directory, series_options options = {})
      : writer_(detail::begin_series(directory, std::move(options))) {}

  // Comes back when the copy of the session is made; it is written meanwhile. What goes wrong then is thrown by the
  // next call of save_async, save or wait. When two copies wait already, this waits for one of them.
  template <class Session>
  void save_async(Session& s, std::uint64_t step, const checkpoint_note& note = {}) {
    using access = detail::session_access;
    detail::save_in_series(*writer_, access::engine_of(s), step, note);
  }
  // Comes back when the file is safe.
  template <class Session>
  void save(Session& s, std::uint64_t step, const checkpoint_note& note = {}) {
    save_async(s, step, note);
    wait();
  }
  // Until everything is written.
  void wait() { detail::wait_for_series(*writer_); }

  // Those that are complete, oldest first.
  std::vector<series_entry> entries() const { return detail::entries_of(*writer_); }
  std::optional<series_entry> latest() const { return detail::latest_of(*writer_); }
  // Of those with a metric.
  std::optional<series_entry> best() const { return detail::best_of(*writer_); }

 private:
  detail::series_handle writer_;
};

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "checkpoint_series_code.hpp"
#endif
