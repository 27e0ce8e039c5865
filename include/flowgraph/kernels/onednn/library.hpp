// How oneDNN is called: one engine, a stream for each thread, and never a thread of its own. A kernel is cut into parts
// that the session's threads run, each part a call that stays on the thread it is made on.
#pragma once
#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

#include <oneapi/dnnl/dnnl.h>

#include <flowgraph/core/error.hpp>
#include <flowgraph/kernels/cpu/scratch.hpp>

#if DNNL_VERSION_MAJOR < 2 || (DNNL_VERSION_MAJOR == 2 && DNNL_VERSION_MINOR < 6)
#error "flowgraph needs oneDNN 2.6 or later"
#endif
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_TBB
#error \
    "flowgraph needs a oneDNN that was built for OpenMP, for a thread pool or without threads: TBB's can't be limited"
#endif

namespace flowgraph::detail::onednn {

// OpenMP's calls are looked up in the program, where oneDNN has brought them: which of the OpenMP libraries it was
// linked with is its own affair.
struct openmp {
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;

  static const openmp& calls() {
    static const openmp found = [] {
      openmp o;
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
      o.threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
      o.set_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
#endif
      return o;
    }();
    return found;
  }
  // Without the calls oneDNN would start threads that nobody asked for.
  static bool controlled() {
    return DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_OMP || (calls().threads && calls().set_threads);
  }
};

// While it lives, oneDNN prepares and runs on the calling thread alone. What the application asked of OpenMP on this
// thread is as before afterwards.
class on_this_thread {
 public:
  on_this_thread() {
    if (openmp::calls().set_threads == nullptr) return;
    before_ = openmp::calls().threads();
    if (before_ != 1) openmp::calls().set_threads(1);
  }
  ~on_this_thread() {
    if (before_ > 1) openmp::calls().set_threads(before_);
  }
  on_this_thread(const on_this_thread&) = delete;
  on_this_thread& operator=(const on_this_thread&) = delete;

 private:
  int before_ = 1;
};

// The C interface, because the C++ one takes a second to parse.
inline void check(dnnl_status_t status, const char* call) {
  if (status == dnnl_success) return;
  throw execution_error(problem::kernel_failed,
                        {"oneDNN: ", call, status == dnnl_out_of_memory ? ": out of memory" : " failed"});
}

// Owns one of oneDNN's objects.
template <class T, dnnl_status_t (*Destroy)(T)>
class handle {
 public:
  handle() = default;
  ~handle() {
    if (object_ != nullptr) Destroy(object_);
  }
  handle(handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  handle& operator=(handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  T get() const { return object_; }
  T* out() { return &object_; }

 private:
  T object_ = nullptr;
};

using attributes = handle<dnnl_primitive_attr_t, &dnnl_primitive_attr_destroy>;
using primitive_description = handle<dnnl_primitive_desc_t, &dnnl_primitive_desc_destroy>;
using primitive = handle<dnnl_primitive_t, &dnnl_primitive_destroy>;
using memory_object = handle<dnnl_memory_t, &dnnl_memory_destroy>;

// Whether it computes in registers of 16 elements. It may have been told not to (ONEDNN_MAX_CPU_ISA).
inline bool has_wide_registers() {
  static const bool found =
      (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
  return found;
}

inline dnnl_engine_t the_engine() {
  static const auto e = [] {
    handle<dnnl_engine_t, &dnnl_engine_destroy> made;
    check(dnnl_engine_create(made.out(), dnnl_cpu, 0), "dnnl_engine_create");
    return made;
  }();
  return e.get();
}
inline dnnl_stream_t this_stream() {
  thread_local const auto s = [] {
    handle<dnnl_stream_t, &dnnl_stream_destroy> made;
    check(dnnl_stream_create(made.out(), the_engine(), dnnl_stream_default_flags), "dnnl_stream_create");
    return made;
  }();
  return s.get();
}

// Scratch memory is the caller's: oneDNN would allocate it for every call.
inline const_dnnl_primitive_attr_t user_scratchpad() {
  static const attributes a = [] {
    attributes made;
    check(dnnl_primitive_attr_create(made.out()), "dnnl_primitive_attr_create");
    check(dnnl_primitive_attr_set_scratchpad_mode(made.get(), dnnl_scratchpad_mode_user),
          "dnnl_primitive_attr_set_scratchpad_mode");
    return made;
  }();
  return a.get();
}

inline void set(const memory_object& m, void* data) {
  check(dnnl_memory_set_data_handle(m.get(), data), "dnnl_memory_set_data_handle");
}

// Memory as oneDNN likes it aligned.
struct alignas(64) cache_line {
  std::byte bytes[64];
};
constexpr std::int64_t lines(std::int64_t bytes) { return (bytes + 63) / 64; }

}  // namespace flowgraph::detail::onednn
