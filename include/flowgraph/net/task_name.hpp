// Which task of a cluster: "/job:worker/task:2". Names are what keys, errors and devices share; where a task listens is
// its address, which may change while its name stays.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include <flowgraph/graph/device.hpp>

namespace flowgraph {

struct task_name {
  std::string job;
  int index = 0;

  bool operator==(const task_name&) const = default;
  auto operator<=>(const task_name&) const = default;

  std::string text() const { return "/job:" + job + "/task:" + std::to_string(index); }
};

namespace detail {

inline constexpr int max_task_index = 99999;
// Letters, digits, '_', '.', '-': nothing that means something in a device, a key's label, a shell or a host list.
constexpr bool is_job_name(std::string_view s) {
  if (s.empty() || s.size() > 64) return false;
  for (const char c : s)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
          c == '-'))
      return false;
  return true;
}
inline bool is_task(const task_name& t) { return is_job_name(t.job) && t.index >= 0 && t.index <= max_task_index; }

// False: text is no "/job:worker/task:2". A number is digits, without more zeros in front than it needs, so that a task
// has one name.
inline bool parse_task(std::string_view text, task_name& task) {
  const device_name d = parse_device(text);
  if (!d.ok || d.task < 0 || !d.kind.empty()) return false;
  task = {std::string(d.job), d.task};
  return is_task(task) && task.text() == text;
}

}  // namespace detail

}  // namespace flowgraph
