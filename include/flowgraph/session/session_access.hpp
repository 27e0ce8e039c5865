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
    engine& e = *s.engine_;
    add_state(e, s.view());
    return e;
  }
};

}  // namespace flowgraph::detail
