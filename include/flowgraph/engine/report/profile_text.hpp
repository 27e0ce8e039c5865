// Tables of what took longest in the steps of a profile.
#pragma once
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <flowgraph/core/text_from.hpp>
#include <flowgraph/session/profile.hpp>

namespace flowgraph {

namespace detail {

// What instructions of one key did, together.
struct profile_row {
  const instruction_profile* of = nullptr;  // one of them
  std::int64_t nanoseconds = 0, bytes = 0, flops = 0, calls = 0, waited = 0;
  std::size_t place = 0;  // of its key among all

  double a_nanosecond(std::int64_t amount) const {
    return static_cast<double>(amount) / static_cast<double>(std::max<std::int64_t>(nanoseconds, 1));
  }
  double microseconds_a_call() const { return static_cast<double>(nanoseconds) * 1e-3 / static_cast<double>(calls); }
  // Of what never had to wait nothing is said.
  std::string waiting() const {
    if (waited == 0) return "";
    return text_from({", waited ", fixed_digits(static_cast<double>(waited) * 1e-3, 1), " us"});
  }
};

template <class Tag = void>
struct basic_profile_rows {
  std::vector<profile_row> rows;  // the longest first
  std::int64_t total = 0, in_kernels = 0;

  // key(instruction): those with equal ones are added up.
  template <class Key>
  basic_profile_rows(const std::vector<step_profile>& steps, const Key& key) {
    std::map<decltype(key(std::declval<const instruction_profile&>())), profile_row> by_key;
    for (const step_profile& s : steps) {
      total += s.nanoseconds;
      for (const instruction_profile& i : s.instructions) {
        profile_row& r = by_key[key(i)];
        r.of = &i;
        r.nanoseconds += i.nanoseconds;
        r.bytes += i.bytes * i.calls;
        r.flops += i.flops * i.calls;
        r.calls += i.calls;
        r.waited += i.waited;
        in_kernels += i.nanoseconds;
      }
    }
    for (auto& [_, r] : by_key) {
      r.place = rows.size();
      rows.push_back(r);
    }
    // std::stable_sort of libstdc++ 12 makes newer clangs warn of what it calls.
    std::sort(rows.begin(), rows.end(), [](const profile_row& a, const profile_row& b) {
      return a.nanoseconds != b.nanoseconds ? a.nanoseconds > b.nanoseconds : a.place < b.place;
    });
  }
  double percent(const profile_row& r) const {
    return in_kernels == 0 ? 0.0 : 100 * static_cast<double>(r.nanoseconds) / static_cast<double>(in_kernels);
  }
  std::string head(std::size_t steps, std::string_view what) const {
    return text_from({steps, " steps, ", fixed_digits(static_cast<double>(total) * 1e-3, 1), " us, ",
                      fixed_digits(static_cast<double>(in_kernels) * 1e-3, 1), " us in ", rows.size(), " ", what,
                      "\n"});
  }
  // line(row) for the first ones.
  template <class Line>
  std::string body(std::size_t top, const Line& line) const {
    std::string text;
    for (std::size_t i = 0; i < rows.size() && i < top; ++i) text += line(rows[i]);
    if (rows.size() > top) text += text_from({"and ", rows.size() - top, " more\n"});
    return text;
  }
};
using profile_rows = basic_profile_rows<>;

}  // namespace detail

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_LAZY_CODE std::string to_text(const std::vector<step_profile>& steps, std::size_t top) {
  const detail::profile_rows all(
      steps, [](const instruction_profile& i) { return std::pair<std::string_view, std::string_view>(i.node, i.op); });
  return all.head(steps.size(), "nodes") + " share   us a call   calls      GB/s  node\n" +
         all.body(top, [&](const detail::profile_row& r) {
           return detail::text_from({detail::to_right(detail::fixed_digits(all.percent(r), 1), 5), "%  ",
                                     detail::to_right(detail::fixed_digits(r.microseconds_a_call(), 2), 10), "  ",
                                     detail::to_right(r.calls, 6), "  ",
                                     detail::to_right(detail::fixed_digits(r.a_nanosecond(r.bytes), 1), 8), "  ",
                                     r.of->node, " = ", r.of->op, " (", r.of->provider, ", ", r.of->where, ")",
                                     r.waiting(), "\n"});
         });
}

FLOWGRAPH_LAZY_CODE std::string top_ops(const std::vector<step_profile>& steps, std::size_t top) {
  const detail::profile_rows all(steps, [](const instruction_profile& i) { return std::string_view(i.op); });
  return all.head(steps.size(), "ops") + " share          us   us a call   calls     Gop/s      GB/s  op\n" +
         all.body(top, [&](const detail::profile_row& r) {
           return detail::text_from(
               {detail::to_right(detail::fixed_digits(all.percent(r), 1), 5), "%  ",
                detail::to_right(detail::fixed_digits(static_cast<double>(r.nanoseconds) * 1e-3, 1), 10), "  ",
                detail::to_right(detail::fixed_digits(r.microseconds_a_call(), 2), 10), "  ",
                detail::to_right(r.calls, 6), "  ",
                detail::to_right(detail::fixed_digits(r.a_nanosecond(r.flops), 1), 8), "  ",
                detail::to_right(detail::fixed_digits(r.a_nanosecond(r.bytes), 1), 8), "  ", r.of->op, r.waiting(),
                "\n"});
         });
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph
