// Counting a variable up. Atomic, so that no number is given twice even where steps take no locks.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/ops/synchronize.hpp>

namespace flowgraph {

template <>
struct cpu_kernel<ops::count_up_to> {
  using types = type_list<std::int32_t, std::int64_t>;
  template <class T>
  static void run(const kernel_args& k) {
    const std::int64_t limit = k.attrs<ops::count_up_to::attrs>().limit;
    const std::atomic_ref<T> count(*k.in[0].as<T>());
    T now = count.load();
    do
      if (now >= limit)
        throw end_of_input(problem::end_of_input,
                           {sentence(problem::end_of_input), ": counted up to ", std::to_string(limit)});
    while (!count.compare_exchange_weak(now, static_cast<T>(now + 1)));
    *k.out[0].as<T>() = now;
  }
};

using count_up_to_kernels = type_list<ops::count_up_to>;

}  // namespace flowgraph
