// Variables that launchers set, read so that a mistake names the variable and its value.
#pragma once
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/core/text_from.hpp>

#include "peer_error.hpp"

namespace flowgraph::detail {

class environment {
 public:
  explicit environment(const char* (*read)(const char* name)) : read_(read) {}

  bool has(const char* name) const { return read_(name) != nullptr; }
  // Empty where there is none.
  std::string get(const char* name) const {
    const char* const text = read_(name);
    return text != nullptr ? text : "";
  }
  std::string need(const char* name, std::string_view for_what) const {
    std::string text = get(name);
    if (text.empty()) fail(name, text_from({"is needed ", for_what}));
    return text;
  }
  int number(const char* name, int least, int most, std::string_view for_what) const {
    const std::string text = need(name, for_what);
    int n = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
    if (r.ec != std::errc() || r.ptr != text.data() + text.size() || n < least || n > most)
      fail(name, text_from({"is no number from ", least, " to ", most}));
    return n;
  }
  int number_or(const char* name, int otherwise, int least, int most) const {
    return has(name) ? number(name, least, most, "") : otherwise;
  }
  [[noreturn]] void fail(const char* name, std::string_view what) const {
    std::string value = get(name);
    if (value.size() > 200) value = value.substr(0, 200) + "...";
    const std::string has_value = has(name) ? "=\"" + value + "\"" : " (not set)";
    throw cluster_error(problem::cluster_environment, {name, has_value, ": ", what});
  }

 private:
  const char* (*read_)(const char* name);
};

inline std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Of Slurm: "rack[0-1]n[08-10],b" names rack0n08 to rack1n10, and b; the digits keep their zeros. Empty: it is no such
// list, or has more hosts than any cluster.
inline std::vector<std::string> expand_hosts(std::string_view text) {
  static constexpr std::size_t most = 100'000;
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < text.size();) {
    std::vector<std::string> names{""};
    std::size_t i = begin;
    for (; i < text.size() && text[i] != ',';) {
      if (text[i] != '[') {
        for (std::string& n : names) n += text[i];
        ++i;
        continue;
      }
      const std::size_t close = text.find(']', i);
      if (close == std::string_view::npos) return {};
      std::vector<std::string> digits, longer;
      for (const std::string& range : split(text.substr(i + 1, close - i - 1), ',')) {
        const std::size_t dash = range.find('-');
        const std::string low = range.substr(0, dash), high = dash == std::string::npos ? low : range.substr(dash + 1);
        unsigned long from = 0, to = 0;
        const auto a = std::from_chars(low.data(), low.data() + low.size(), from);
        const auto b = std::from_chars(high.data(), high.data() + high.size(), to);
        if (a.ec != std::errc() || a.ptr != low.data() + low.size() || b.ec != std::errc() ||
            b.ptr != high.data() + high.size() || to < from || to - from >= most)
          return {};
        for (unsigned long k = from; k <= to; ++k) {
          std::string d = std::to_string(k);
          if (d.size() < low.size()) d.insert(0, low.size() - d.size(), '0');
          digits.push_back(std::move(d));
        }
        if (digits.size() * names.size() > most) return {};
      }
      for (const std::string& n : names)
        for (const std::string& d : digits) longer.push_back(n + d);
      names.swap(longer);
      i = close + 1;
    }
    if (i == begin) return {};
    all.insert(all.end(), names.begin(), names.end());
    if (all.size() > most) return {};
    begin = i + 1;
    if (i + 1 == text.size()) return {};  // a comma at the end
  }
  return all;
}

// "2(x2),1" is 2, 2, 1. Empty: it is no such list.
inline std::vector<int> expand_counts(std::string_view text) {
  std::vector<int> all;
  for (const std::string& part : split(text, ',')) {
    int n = 0, times = 1;
    const char *const begin = part.data(), *const end = begin + part.size();
    auto r = std::from_chars(begin, end, n);
    if (r.ec != std::errc() || n < 0) return {};
    if (r.ptr != end) {
      if (end - r.ptr < 4 || r.ptr[0] != '(' || r.ptr[1] != 'x' || end[-1] != ')') return {};
      const auto t = std::from_chars(r.ptr + 2, end - 1, times);
      if (t.ec != std::errc() || t.ptr != end - 1 || times < 1 || times > 100'000) return {};
    }
    all.insert(all.end(), static_cast<std::size_t>(times), n);
    if (all.size() > 100'000) return {};
  }
  return all;
}

}  // namespace flowgraph::detail
