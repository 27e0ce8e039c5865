// Counts what operator new gives, for all of the program. To be included by one file only.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace example {

inline std::atomic<std::int64_t> allocations{0};

inline void* counted(void* p) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace example

// g++ looks into these, but not into every operator new that it pairs them with.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

// Not inlined: g++ would see malloc end in operator delete, and warn. Those of arrays call these.
[[gnu::noinline]] void* operator new(std::size_t n) { return example::counted(std::malloc(n == 0 ? 1 : n)); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  const auto alignment = static_cast<std::size_t>(a);
  return example::counted(std::aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
