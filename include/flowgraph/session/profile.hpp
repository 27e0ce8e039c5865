// What the last steps of a session did, and when: plain data, and tables of what took longest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <flowgraph/core/other_half.hpp>

namespace flowgraph {

// One instruction of a step.
struct instruction_profile {
  std::string node;                 // its name, or the op and the node's number
  std::string op;                   // a fused one: its ops, joined by +
  std::string where;                // the user's file and line
  std::string provider;             // whose kernel ran: flowgraph, or a library's name
  std::int64_t begin = 0, end = 0;  // nanoseconds since the step began
  int thread = 0;                   // threads are numbered as the session's profile meets them, callers of run first
  std::int64_t bytes = 0;           // of operands and results
  std::int64_t flops = 0;           // elementary operations, as the ops count them
  std::string shapes;               // float[32, 64], float[64, 10] -> float[32, 10]
  std::string device;
  int id = 0;                    // the model's node
  std::int64_t calls = 1;        // in the turns of a loop it ran as often; begin and end are of the last time
  std::int64_t nanoseconds = 0;  // of all calls
  std::int64_t waited = 0;       // nanoseconds of all calls before they began: for a queue, a mutex, another device
};

struct step_profile {
  std::uint64_t step = 0;  // counts the session's steps
  std::int64_t nanoseconds = 0;
  std::vector<instruction_profile> instructions;
  std::int64_t began = 0;  // nanoseconds since the session was made
  int thread = 0;          // that called run
};

inline namespace FLOWGRAPH_HALF {

// The nodes that took longest, over all these steps.
FLOWGRAPH_LAZY_HALF std::string to_text(const std::vector<step_profile>& steps, std::size_t top = 20);
// The ops that took longest, whichever nodes they stand at.
FLOWGRAPH_LAZY_HALF std::string top_ops(const std::vector<step_profile>& steps, std::size_t top = 20);

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include <flowgraph/engine/report/profile_text.hpp>
#endif
