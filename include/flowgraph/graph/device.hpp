// Device names: "/job:ps/task:1/gpu:0", or any part of it. A constraint is a partial name; it matches every
// device that agrees with the parts it has.
#pragma once
#include <string_view>

#include <flowgraph/core/problem.hpp>
#include <flowgraph/core/vec.hpp>

namespace flowgraph {

struct device_name {
  std::string_view job;   // empty: any
  int task = -1;          // -1: any
  std::string_view kind;  // "cpu", "gpu"; empty: any
  int index = -1;
  bool ok = true;

  constexpr bool operator==(const device_name&) const = default;
  constexpr bool matches(const device_name& device) const {
    return (job.empty() || job == device.job) && (task < 0 || task == device.task) &&
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

// A device of a session's list: what its name leaves out is of this process.
constexpr device_name parse_own_device(std::string_view s) {
  device_name d = parse_device(s);
  if (d.job.empty()) d.job = "local";
  if (d.task < 0) d.task = 0;
  return d;
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
