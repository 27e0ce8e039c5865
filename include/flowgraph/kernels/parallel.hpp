// One kernel on several threads. Work is cut by its size alone and never by the number of threads, and each part
// computes results of its own, so that any number of threads gives the same bits.
#pragma once
#include <algorithm>
#include <cstdint>

#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph {

// Elementary operations worth a part of their own: some ten microseconds, several times what waking a thread takes.
inline constexpr std::int64_t part_work = 1 << 15;

// How many of n equal pieces of work make a part, as a multiple of `unit`.
constexpr std::int64_t part_size(std::int64_t work_each, std::int64_t unit = 1) {
  const std::int64_t pieces = std::max<std::int64_t>(1, part_work / std::max<std::int64_t>(1, work_each));
  return (pieces + unit - 1) / unit * unit;
}

// f(first, last) for parts of [0, n) of `grain` pieces each, the last one shorter. Between parts the step may be
// interrupted: then this throws, and some parts are not done.
template <class F>
void parallel_for(const kernel_args& k, std::int64_t n, std::int64_t grain, const F& f) {
  if (n <= grain) {
    if (n > 0) f(std::int64_t{0}, n);
    return;
  }
  const kernel_context none, &c = k.context == nullptr ? none : *k.context;
  const auto part = [&](std::int64_t first, std::int64_t last) {
    if (c.interrupt != nullptr) c.interrupt->check();
    f(first, last);
  };
  if (c.helpers == nullptr) {
    for (std::int64_t first = 0; first < n; first += grain) part(first, std::min(n, first + grain));
  } else {
    using body = decltype(part);
    c.helpers->spread(
        n, grain,
        [](const void* p, std::int64_t first, std::int64_t last) { (*static_cast<const body*>(p))(first, last); },
        &part);
  }
}

}  // namespace flowgraph
