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

// s.run<"loss">(fg::within(50ms), feeds...)
inline limits within(limits::clock::duration time, std::stop_token stop = {}) {
  return {std::move(stop), limits::clock::now() + time};
}

}  // namespace flowgraph
