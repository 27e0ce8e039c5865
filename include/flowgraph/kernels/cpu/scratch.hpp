// Memory for a kernel's intermediate values: one buffer for each thread, element type and use, which only grows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace flowgraph::detail {

// n elements, valid until this thread's next call for the same T and the same use.
template <class T, class Use = void>
T* scratch(std::int64_t n) {
  thread_local std::unique_ptr<T[]> buffer;
  thread_local std::int64_t capacity = 0;
  if (n > capacity) {
    buffer.reset(new T[static_cast<std::size_t>(n)]);
    capacity = n;
  }
  return buffer.get();
}

}  // namespace flowgraph::detail
