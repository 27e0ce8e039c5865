// How later layers reach what a session is made of: its graph and its state. Either kind of session is a friend.
#pragma once
#include "engine_here.hpp"

namespace flowgraph::detail {

struct session_access {
  template <class Session>
  static graph_view graph_of(const Session& s) {
    return s.view();
  }
  // With everything that the graph declares by now.
  template <class Session>
  static engine& engine_of(Session& s) {
    add_state(*s.engine_, s.view());
    return *s.engine_;
  }
};

}  // namespace flowgraph::detail
