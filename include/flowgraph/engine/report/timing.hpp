// When the instructions of a step ran.
#pragma once
#include <chrono>
#include <cstdint>
#include <thread>

namespace flowgraph::detail {

// When an instruction ran, as it is noted while the step runs.
struct timing {
  using clock = std::chrono::steady_clock;

  clock::time_point begin, end;  // of the last call; of one that waited, from when it went on
  std::thread::id thread;
  std::int64_t calls = 0;
  clock::duration spent{}, waited{};  // by all calls
};

}  // namespace flowgraph::detail
