// What the last steps of a session did, and when: plain data, and a table of what took longest.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace flowgraph {

// One instruction of a step.
struct instruction_profile {
  std::string node;                 // its name, or the op and the node's number
  std::string op;                   // a fused one: its ops, joined by +
  std::string where;                // the user's file and line
  std::string provider;             // whose kernel ran: flowgraph, or a library's name
  std::int64_t begin = 0, end = 0;  // nanoseconds since the step began
  int thread = 0;                   // 0: the one that called run
  std::int64_t bytes = 0;           // of operands and results
};

struct step_profile {
  std::uint64_t step = 0;  // counts the session's steps
  std::int64_t nanoseconds = 0;
  std::vector<instruction_profile> instructions;
};

// The nodes that took longest, over all these steps.
inline std::string to_text(const std::vector<step_profile>& steps, std::size_t top = 20) {
  struct row {
    const instruction_profile* of;
    std::int64_t nanoseconds = 0, bytes = 0;
    int calls = 0;
  };
  std::map<std::pair<std::string_view, std::string_view>, row> by_node;
  std::int64_t total = 0, in_kernels = 0;
  for (const step_profile& s : steps) {
    total += s.nanoseconds;
    for (const instruction_profile& i : s.instructions) {
      row& r = by_node[{i.node, i.op}];
      r.of = &i;
      r.nanoseconds += i.end - i.begin;
      r.bytes += i.bytes;
      ++r.calls;
      in_kernels += i.end - i.begin;
    }
  }
  std::vector<row> rows;
  for (const auto& [key, r] : by_node) rows.push_back(r);
  std::stable_sort(rows.begin(), rows.end(), [](const row& a, const row& b) { return a.nanoseconds > b.nanoseconds; });
  const auto share = [&](std::int64_t part) {
    return in_kernels == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(in_kernels);
  };
  std::string text =
      fmt::format("{} steps, {:.1f} us, {:.1f} us in {} nodes\n{:>6}  {:>10}  {:>6}  {:>8}  {}\n", steps.size(),
                  static_cast<double>(total) * 1e-3, static_cast<double>(in_kernels) * 1e-3, rows.size(), "share",
                  "us a call", "calls", "GB/s", "node");
  for (std::size_t i = 0; i < rows.size() && i < top; ++i) {
    const row& r = rows[i];
    const auto time = static_cast<double>(std::max<std::int64_t>(r.nanoseconds, 1));
    text += fmt::format("{:>5.1f}%  {:>10.2f}  {:>6}  {:>8.1f}  {} = {} ({}, {})\n", share(r.nanoseconds),
                        time * 1e-3 / r.calls, r.calls, static_cast<double>(r.bytes) / time, r.of->node, r.of->op,
                        r.of->provider, r.of->where);
  }
  if (rows.size() > top) text += fmt::format("and {} more\n", rows.size() - top);
  return text;
}

namespace detail {

// When an instruction ran, as it is noted while the step runs.
struct timing {
  using clock = std::chrono::steady_clock;

  clock::time_point begin, end;
  std::thread::id thread;
};

}  // namespace detail
}  // namespace flowgraph
