// A profile in the trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing open: a process for each
// device, a row for each thread.
#pragma once
#include <string>
#include <vector>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_error.hpp>
#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/session/profile.hpp>

namespace flowgraph {
inline namespace FLOWGRAPH_HALF {

// Each instruction with its node, op, shapes, source line, bytes and elementary operations; each step as a whole.
FLOWGRAPH_OTHER_HALF std::string to_trace(const std::vector<step_profile>& steps);

// The same as a file. Throws file_error.
FLOWGRAPH_OTHER_HALF void write_trace(const file_path& path, const std::vector<step_profile>& steps);

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "trace_code.hpp"
#endif
