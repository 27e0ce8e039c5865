// How the rows make their sessions: with as many threads as bench/run says. Where the environment variable
// BENCH_PROFILE is a number, that many of the last steps are shown when the program ends, node by node.
#pragma once
#include <cstdlib>
#include <iostream>
#include <memory>

#include <flowgraph.hpp>

#include "../support/contest.hpp"

namespace bench {

template <const auto& Model>
std::shared_ptr<flowgraph::session<Model>> prepared(int threads) {
  const char* profile = std::getenv("BENCH_PROFILE");
  return {new flowgraph::session<Model>({.threads = threads, .profile = profile ? std::atoi(profile) : 0}),
          [profile](flowgraph::session<Model>* s) {
            if (profile != nullptr) std::cerr << flowgraph::to_text(s->profile(), 60);
            delete s;
          }};
}

}  // namespace bench
