// Counts the bytes that a program has allocated at once, in all its libraries: preloaded (LD_PRELOAD) into a contestant
// whose memory is measured, never into one that is timed. Blocks of less than 256 bytes are bookkeeping, not tensors,
// and do not count.
#include <malloc.h>
#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

std::atomic<long long> live{0}, peak{0};
long long at_begin = 0;

long long counted(void* p) {
  const auto n = static_cast<long long>(p ? malloc_usable_size(p) : 0);
  return n >= 256 ? n : 0;
}

void* add(void* p) {
  const long long now = live.fetch_add(counted(p), std::memory_order_relaxed) + counted(p);
  long long most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return p;
}

void subtract(void* p) { live.fetch_sub(counted(p), std::memory_order_relaxed); }

}  // namespace

extern "C" {

void bench_memory_begin() {
  at_begin = live.load();
  peak.store(at_begin);
}
long long bench_memory_peak() { return peak.load() - at_begin; }

void* malloc(std::size_t n) { return add(__libc_malloc(n)); }
void* calloc(std::size_t n, std::size_t size) { return add(__libc_calloc(n, size)); }
void* realloc(void* p, std::size_t n) {
  subtract(p);
  void* moved = __libc_realloc(p, n);
  add(moved || n == 0 ? moved : p);
  return moved;
}
void free(void* p) {
  subtract(p);
  __libc_free(p);
}
void* memalign(std::size_t alignment, std::size_t n) { return add(__libc_memalign(alignment, n)); }
void* aligned_alloc(std::size_t alignment, std::size_t n) { return add(__libc_memalign(alignment, n)); }
int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  void* made = add(__libc_memalign(alignment, n));
  if (made == nullptr && n != 0) return ENOMEM;
  *p = made;
  return 0;
}
}
