// Memory for a kernel's intermediate values: one buffer for each thread and element type, which only grows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace flowgraph::detail {

// n elements, valid until this thread's next call for the same T.
template <class T>
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
