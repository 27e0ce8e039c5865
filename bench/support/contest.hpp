// What every contestant written in C++ shares: the protocol that bench/run speaks. Standard library only, so that no
// contestant depends on another's.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "inputs.hpp"

// The counting allocator (support/memory.cpp) where it is preloaded; null otherwise.
extern "C" {
__attribute__((weak)) void bench_memory_begin();
__attribute__((weak)) long long bench_memory_peak();
}

namespace bench {

// Runs once and gives a number that shows what was computed: a loss, or an element of the result.
using step = std::function<double()>;
// A row's name, and what prepares it for this many threads.
using rows = std::map<std::string, std::function<step(int threads)>>;

// PROGRAM ROW THREADS: says "ready", the number that its first step gave, and then answers on standard output:
//   run K      nanoseconds that K steps took
//   memory     the most bytes that were allocated at once since before the row was prepared
inline int serve(int argc, char** argv, const rows& all) try {
  const auto row = argc == 3 ? all.find(argv[1]) : all.end();
  if (row == all.end()) {
    std::cout << "none\n";  // this contestant does not take part in this row
    return 0;
  }
  if (bench_memory_begin) bench_memory_begin();
  const step run = row->second(std::atoi(argv[2]));
  std::printf("ready %.9g\n", run());
  std::fflush(stdout);
  for (std::string command; std::cin >> command;) {
    if (command == "run") {
      long count = 0;
      std::cin >> count;
      const auto begin = std::chrono::steady_clock::now();
      for (long i = 0; i < count; ++i) run();
      const auto end = std::chrono::steady_clock::now();
      std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count() << std::endl;
    } else if (command == "memory") {
      std::cout << (bench_memory_peak ? bench_memory_peak() : -1) << std::endl;
    } else {
      return 0;
    }
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}

}  // namespace bench
