// When a step ends before it is done: at a deadline, or when somebody asks for it.
#pragma once
#include <chrono>
#include <stop_token>
#include <utility>
#include <version>

#ifndef __cpp_lib_jthread
#error "flowgraph needs std::stop_token, which libc++ 19 has with -fexperimental-library"
#endif

namespace flowgraph {

// The first argument of a run: s.run<"loss">(fg::limits{.stop = token}, feeds...).
struct limits {
  using clock = std::chrono::steady_clock;

  std::stop_token stop = {};
  clock::time_point deadline = clock::time_point::max();
};

// s.run<"loss">(fg::within(50ms), feeds...). A time that no clock reaches, such as hours::max(), is no limit.
template <class Rep, class Period>
limits within(std::chrono::duration<Rep, Period> time, std::stop_token stop = {}) {
  constexpr double most = 3e9;  // seconds: clocks count thrice as many, and some of them have passed
  const double seconds = std::chrono::duration<double>(time).count();
  limits l{.stop = std::move(stop)};
  if (seconds < most) l.deadline = limits::clock::now();
  if (seconds < most && seconds > 0) l.deadline += std::chrono::duration_cast<limits::clock::duration>(time);
  return l;
}

}  // namespace flowgraph
