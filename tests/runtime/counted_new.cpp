#include "counted_new.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

#include <flowgraph/arrays/ndarray.hpp>

#if defined(__SANITIZE_THREAD__)
#define FLOWGRAPH_OWN_NEW 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FLOWGRAPH_OWN_NEW 0
#endif
#endif
#ifndef FLOWGRAPH_OWN_NEW
#define FLOWGRAPH_OWN_NEW 1
#endif

namespace allocations {

const bool are_counted = FLOWGRAPH_OWN_NEW != 0;
std::atomic<std::int64_t> made{0}, value_bytes{0};

namespace {

std::atomic<std::int64_t> left{0};
std::atomic<bool> armed{false};

}  // namespace

void fail(std::int64_t n) {
  left = n;
  armed = n > 0;
}
bool failed() {
  armed = false;
  return left <= 0;
}

#if FLOWGRAPH_OWN_NEW
namespace {

void count() {
  ++made;
  if (armed && --left == 0) throw std::bad_alloc();
}
void* checked(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace
#endif

}  // namespace allocations

#if FLOWGRAPH_OWN_NEW
// g++ looks into these, but not into every operator new that it pairs them with.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

// Not inlined: g++ would see malloc end in operator delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t n) {
  allocations::count();
  return allocations::checked(std::malloc(n == 0 ? 1 : n));
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  allocations::count();
  const auto alignment = static_cast<std::size_t>(a);
  if (alignment == flowgraph::detail::buffer_alignment) allocations::value_bytes += static_cast<std::int64_t>(n);
  return allocations::checked(std::aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#endif
