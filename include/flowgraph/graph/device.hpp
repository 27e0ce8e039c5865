// Device names: "/job:ps/task:1/gpu:0", or any part of it. A constraint is a partial name; it matches every
// device that agrees with the parts it has.
#pragma once
#include <string_view>

namespace flowgraph {

struct device_name {
  std::string_view job;   // empty: any
  int task = -1;          // -1: any
  std::string_view kind;  // "cpu", "gpu"; empty: any
  int index = -1;
  bool ok = true;

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

}  // namespace flowgraph
