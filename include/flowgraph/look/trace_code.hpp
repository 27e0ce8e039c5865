// Defines what trace.hpp declares.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_text.hpp"
#include "trace.hpp"
#include "write_text.hpp"

namespace flowgraph {

namespace detail {

class trace_writer {
 public:
  std::string write(const std::vector<step_profile>& steps) {
    out_.object([&] {
      out_.field("displayTimeUnit", "ns");
      out_.field("traceEvents", [&] {
        out_.array([&] {
          for (const step_profile& s : steps) write(s);
          for (std::size_t i = 0; i < processes_.size(); ++i)
            name("process_name", static_cast<int>(i), 0, processes_[i]);
          for (const row& r : rows_) name("thread_name", r.process, r.thread, fmt::format("thread {}", r.thread));
        });
      });
    });
    return std::move(out_).text();
  }

 private:
  struct row {
    int process, thread;
    bool operator==(const row&) const = default;
  };

  void write(const step_profile& s) {
    const row caller = row_of("steps", s.thread);
    event(fmt::format("step {}", s.step), "step", caller, s.began, s.nanoseconds, [] {});
    for (const instruction_profile& i : s.instructions)
      event(i.node, i.op, row_of(i.device, i.thread), s.began + i.begin, i.end - i.begin, [&] {
        out_.field("op", i.op);
        out_.field("shapes", i.shapes);
        out_.field("where", i.where);
        out_.field("provider", i.provider);
        out_.field("bytes", i.bytes);
        out_.field("flops", i.flops);
        out_.field("waited", i.waited);
        out_.field("step", s.step);
      });
  }

  template <class Details>
  void event(std::string_view what, std::string_view category, const row& at, std::int64_t begin, std::int64_t duration,
             const Details& details) {
    out_.object([&] {
      out_.field("name", what);
      out_.field("cat", category);
      out_.field("ph", "X");
      out_.field("pid", at.process);
      out_.field("tid", at.thread);
      out_.field("ts", [&] { out_.microseconds(begin); });
      out_.field("dur", [&] { out_.microseconds(duration); });
      out_.field("args", [&] { out_.object(details); });
    });
  }
  void name(std::string_view what, int process, int thread, std::string_view text) {
    out_.object([&] {
      out_.field("name", what);
      out_.field("ph", "M");
      out_.field("pid", process);
      out_.field("tid", thread);
      out_.field("args", [&] { out_.object([&] { out_.field("name", text); }); });
    });
  }

  row row_of(std::string_view process, int thread) {
    auto at = std::find(processes_.begin(), processes_.end(), process);
    if (at == processes_.end()) at = processes_.insert(at, std::string(process));
    const row r{static_cast<int>(at - processes_.begin()), thread};
    if (std::find(rows_.begin(), rows_.end(), r) == rows_.end()) rows_.push_back(r);
    return r;
  }

  json_text out_;
  std::vector<std::string> processes_;
  std::vector<row> rows_;
};

}  // namespace detail

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string to_trace(const std::vector<step_profile>& steps) {
  return detail::trace_writer().write(steps);
}
FLOWGRAPH_OTHER_HALF void write_trace(const file_path& path, const std::vector<step_profile>& steps) {
  detail::write_text(path, to_trace(steps));
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph
