// Says what each pass did: pass it to plan() at run time.
#pragma once
#include <chrono>
#include <string>

#include "pipeline.hpp"

namespace flowgraph::passes {

// One line a pass: its name, how many nodes it changed or "(unchanged)", how many there are now, how long it took.
class pass_log {
 public:
  explicit pass_log(std::string& out) : out_(out), since_(clock::now()) {}

  void operator()(std::string_view pass, int changed, const draft_view& d, detail::slice<int> = {},
                  const fusion& = {}) const {
    const auto now = clock::now();
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now - since_).count();
    out_ += std::string(pass) + ": " + (changed == 0 ? "(unchanged)" : std::to_string(changed) + " changed") + ", " +
            std::to_string(d.graph.size()) + " nodes, " + std::to_string(us) + " us\n";
    since_ = clock::now();
  }

 private:
  using clock = std::chrono::steady_clock;
  std::string& out_;
  mutable clock::time_point since_;
};

}  // namespace flowgraph::passes
