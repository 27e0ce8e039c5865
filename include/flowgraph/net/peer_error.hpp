// What another task did, or did not do: a run-time error that names it.
#pragma once
#include <initializer_list>
#include <string_view>

#include <flowgraph/core/error.hpp>

#include "task_name.hpp"

namespace flowgraph {

// The peer is gone, refused this task, was refused, or did not answer in time. The message begins with its name.
class peer_error : public error {
 public:
  peer_error(problem why, const task_name& peer, std::string_view what)
      : error(why, {peer.text(), ": ", what, " (", sentence(why), ")"}),
        peer_(peer) {}

  const task_name& peer() const noexcept { return peer_; }

 private:
  task_name peer_;
};

// A list of tasks, a key or an environment of which no cluster can be made.
class cluster_error : public error {
 public:
  cluster_error(problem why, std::initializer_list<std::string_view> parts)
      : error(why, parts, {" (", sentence(why), ")"}) {}
};

}  // namespace flowgraph
