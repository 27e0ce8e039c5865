// Who is told how long the instructions of a step took: step_recorder.hpp, where a session's options ask for it.
#pragma once
#include <vector>

#include <flowgraph/core/list.hpp>
#include <flowgraph/graph/node.hpp>
#include <flowgraph/plan/plan.hpp>
#include <flowgraph/session/profile.hpp>
#include "timing.hpp"

namespace flowgraph::detail {

template <class Tag>
class basic_workspace;

class times_of_steps {
 public:
  virtual ~times_of_steps() = default;
  // A step that was run by this thread and has just ended. times: of each instruction.
  virtual void add(const plan_view& plan, const graph_view& g, const basic_workspace<void>& w,
                   const list<timing>& times, timing::clock::time_point begin) = 0;
  // The last steps, oldest first.
  virtual std::vector<step_profile> last() const = 0;
};

}  // namespace flowgraph::detail
