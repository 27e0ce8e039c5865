// Device names: "/job:ps/task:1/gpu:0", or any part of it. A constraint is a partial name; it matches every
// device that agrees with the parts it has. "/job:worker/task:self" is the worker that runs the step, whichever of them
// that is: a plan that says so is the same for all of them, however many there are.
#pragma once
#include <cstddef>
#include <string_view>

#include <flowgraph/core/problem.hpp>
#include <flowgraph/core/vec.hpp>

namespace flowgraph {

inline constexpr int any_task = -1, task_self = -2;

struct device_name {
  std::string_view job;   // empty: any
  int task = any_task;    // or a number, or task_self
  std::string_view kind;  // "cpu", "gpu"; empty: any
  int index = -1;
  bool ok = true;

  constexpr bool operator==(const device_name&) const = default;
  constexpr bool matches(const device_name& device) const {
    return (job.empty() || job == device.job) && (task == any_task || task == device.task) &&
           (kind.empty() || kind == device.kind) && (index < 0 || index == device.index);
  }
};

constexpr device_name parse_device(std::string_view s) {
  device_name d, invalid;
  invalid.ok = false;
  while (!s.empty()) {
    if (s[0] != '/') return invalid;
    auto end = s.find('/', 1);
    if (end == std::string_view::npos) end = s.size();
    const std::string_view part = s.substr(1, end - 1);
    const auto colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == part.size()) return invalid;
    const std::string_view key = part.substr(0, colon), value = part.substr(colon + 1);
    int number = 0;
    bool is_number = true;
    for (const char c : value) {
      is_number = is_number && c >= '0' && c <= '9';
      number = is_number && number < 100000 ? number * 10 + (c - '0') : number;
    }
    if (key == "job")
      d.job = value;
    else if (key == "task" && value == "self")
      d.task = task_self;
    else if (!is_number)
      return invalid;
    else if (key == "task")
      d.task = number;
    else if (key == "cpu" || key == "gpu") {
      d.kind = key;
      d.index = number;
    } else {
      return invalid;
    }
    s = s.substr(end);
  }
  return d;
}

// The constraint of nodes that go where another one is: "%17".
struct colocation {
  char text[12]{'%'};
  int length = 1;

  constexpr explicit colocation(int node) {
    int digits = 1;
    for (int n = node; n >= 10; n /= 10) ++digits;
    for (int k = digits; k > 0; --k, node /= 10) text[k] = static_cast<char>('0' + node % 10);
    length += digits;
  }
  constexpr std::string_view view() const { return {text, static_cast<std::size_t>(length)}; }
};
// The other node; -1: the constraint is a device's name.
constexpr int colocated_with(std::string_view constraint) {
  if (constraint.empty() || constraint[0] != '%') return -1;
  int node = 0;
  for (const char c : constraint.substr(1)) node = 10 * node + (c - '0');
  return node;
}

// A device of a session's list: what its name leaves out is of this process.
constexpr device_name parse_own_device(std::string_view s) {
  device_name d = parse_device(s);
  if (d.job.empty()) d.job = "local";
  if (d.task == any_task) d.task = 0;
  return d;
}

// Can one of them read what the other has computed, where it lies?
constexpr bool share_memory(const device_name& a, const device_name& b) {
  return a.job == b.job && a.task == b.task && a.kind == "cpu" && b.kind == "cpu";
}

// Why a session can't have these devices, and which of them it is about.
struct device_list_fault {
  problem why = problem::none;
  int device = 0;
};

constexpr device_list_fault check_devices(detail::slice<std::string_view> devices) {
  for (int i = 0; i < devices.count; ++i) {
    const device_name d = parse_own_device(devices[i]);
    if (!d.ok || d.kind != "cpu") return {problem::session_device, i};
    for (int k = 0; k < i; ++k)
      if (parse_own_device(devices[k]) == d) return {problem::device_twice, i};
  }
  return {};
}

// The same ones in the same order, however they are written?
constexpr bool same_devices(detail::slice<std::string_view> a, detail::slice<std::string_view> b) {
  if (a.count != b.count) return false;
  for (int i = 0; i < a.count; ++i)
    if (parse_own_device(a[i]) != parse_own_device(b[i])) return false;
  return true;
}

}  // namespace flowgraph
