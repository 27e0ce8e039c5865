// Which of the library's sets of kernels a program runs: the best that its processor has, or the one that the
// environment variable FLOWGRAPH_ISA names. Compiled for any processor.
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>

#include <flowgraph/core/error.hpp>
#include <flowgraph/session/library_kernels.hpp>

#include "variant.hpp"

#if FLOWGRAPH_VARIANTS
#include <cpuid.h>
#endif

namespace flowgraph {

namespace detail {

#if FLOWGRAPH_VARIANTS
variant_kernels kernels_x86_64();
variant_kernels kernels_x86_64_v3();
variant_kernels kernels_x86_64_v4();
#else
variant_kernels kernels_as_compiled();
#endif

namespace {

struct variant {
  std::string_view name;
  variant_kernels (*kernels)();
  bool (*runs_here)();
};

#if FLOWGRAPH_VARIANTS

// The levels of the x86-64 psABI. __builtin_cpu_supports knows of the operating system's part, too; those that clang 16
// does not know by name are read from the processor.
bool has_v3() {
  unsigned a = 0, b = 0, c = 0, d = 0, extended = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid(0x80000001, &a, &b, &extended, &d)) return false;
  constexpr unsigned movbe = 1u << 22, f16c = 1u << 29, lzcnt = 1u << 5;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && (c & movbe) && (c & f16c) && (extended & lzcnt);
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

// The best one last.
constexpr variant variants[] = {{"x86-64", &kernels_x86_64, [] { return true; }},
                                {"x86-64-v3", &kernels_x86_64_v3, &has_v3},
                                {"x86-64-v4", &kernels_x86_64_v4, &has_v4}};
#else
constexpr variant variants[] = {{"as-compiled", &kernels_as_compiled, [] { return true; }}};
#endif

const variant& choose() {
  const char* const said = std::getenv("FLOWGRAPH_ISA");
  const std::string_view name = said == nullptr ? "" : said;
  const variant* best = nullptr;
  std::string here;
  for (const variant& v : variants) {
    if (!v.runs_here()) continue;
    here += (here.empty() ? "" : ", ") + std::string(v.name);
    if (name.empty() || name == "auto" || name == v.name) best = &v;
  }
  if (best == nullptr)
    throw argument_error(problem::no_such_kernels,
                         "the environment variable FLOWGRAPH_ISA is " + std::string(name) +
                             "; this program on this processor has kernels for auto (the best), " + here);
  return *best;
}

const variant& chosen() {
  static const variant& v = choose();
  return v;
}

}  // namespace

inline namespace FLOWGRAPH_HALF {

bound_kernel find_library_kernel(const kernel_use& use) {
  static const auto by_op = [] {
    const variant_kernels all = chosen().kernels();
    std::unordered_map<std::uint64_t, const kernel_record*> m;
    for (std::size_t i = 0; i < all.count; ++i) m.emplace(all.entries[i].op, &all.entries[i].record);
    return m;
  }();
  const auto found = by_op.find(use.op);
  return found == by_op.end() ? bound_kernel{} : found->second->find(use);
}

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

inline namespace FLOWGRAPH_HALF {

std::string_view instruction_set() { return detail::chosen().name; }

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph
