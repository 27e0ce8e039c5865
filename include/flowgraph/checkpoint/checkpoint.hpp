// fg::save and fg::restore: all that a session has to remember, in a file that other frameworks read. Saving copies one
// moment of the session, then writes the copy while steps go on. Restoring changes everything or nothing.
#pragma once
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/formats/stored_tensor.hpp>
#include <flowgraph/session/session_access.hpp>
#include "checkpoint_error.hpp"
#include "checkpoint_options.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void save_variables(engine& e, const file_path& path, const checkpoint_options& o,
                                         const file_metadata& metadata);
FLOWGRAPH_OTHER_HALF file_metadata restore_variables(engine& e, const file_path& path, const checkpoint_options& o);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// Every variable, and the seed and the count of steps, which random numbers follow from. metadata: what else the caller
// needs to go on, such as the epoch. May be called while other threads run steps.
template <class Session>
void save(Session& s, const file_path& path, const checkpoint_options& options = {},
          const file_metadata& metadata = {}) {
  using access = detail::session_access;
  detail::save_variables(access::engine_of(s), path, options, metadata);
}

// Gives the metadata that was saved. Throws file_error for a bad file and checkpoint_error for one of another model;
// then the session is as it was. A file without seed and count of steps leaves them alone.
template <class Session>
file_metadata restore(Session& s, const file_path& path, const checkpoint_options& options = {}) {
  using access = detail::session_access;
  return detail::restore_variables(access::engine_of(s), path, options);
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "checkpoint_code.hpp"
#endif
