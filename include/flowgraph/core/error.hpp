// Run-time errors: one type per kind of mistake, so that a program can catch what it can handle. Every message
// begins with where (the name of a feed, node or file) and ends with what was given.
#pragma once
#include <stdexcept>
#include <string>

#include "problem.hpp"

namespace flowgraph {

class error : public std::runtime_error {
 public:
  error(problem why, const std::string& message) : std::runtime_error(message), why_(why) {}
  problem why() const noexcept { return why_; }

 private:
  problem why_;
};

// A mistake while a graph is built at run time: what the compiler reports in a constexpr graph.
class graph_error : public error {
  using error::error;
};
// A name that the graph does not have.
class name_error : public error {
  using error::error;
};
// A feed of the wrong type or shape, or a missing one.
class feed_error : public error {
  using error::error;
};
// An argument that makes no sense, such as a learning rate of NaN.
class argument_error : public error {
  using error::error;
};
// A plan that can't be made for the devices at hand.
class plan_error : public error {
  using error::error;
};
// A kernel or a user's function failed while a step ran.
class execution_error : public error {
  using error::error;
};

}  // namespace flowgraph
