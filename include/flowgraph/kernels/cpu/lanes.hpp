// As many floating-point numbers as the processor computes at once, on the compilers' own vector types: as wide as the
// file is compiled for. All kernels that work on several elements at a time are made of it; lane_math.hpp has the
// vocabulary of scalar functions for them. Without the compilers' headers of intrinsics, which take longer to read than
// all kernels do; what these types lack is asked of the compiler's builtins, where it has them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// g++ says that a vector type loses its alignment as a template argument; nothing here depends on it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

#if defined(__AVX512F__)
#define FLOWGRAPH_LANE_BYTES 64
#elif defined(__AVX__)
#define FLOWGRAPH_LANE_BYTES 32
#else
#define FLOWGRAPH_LANE_BYTES 16
#endif
#if defined(__AVX512F__) || defined(__AVX2__)
#define FLOWGRAPH_PARTIAL_LANES 1
#else
#define FLOWGRAPH_PARTIAL_LANES 0
#endif
// Of one or two instructions: a call would take longer, and what optimises for size would make one.
#define FLOWGRAPH_ONE_STEP [[gnu::always_inline]]
// Longer, and still better a part of a region's loop, where constants stay in registers. Without optimisation a call.
#if defined(__OPTIMIZE__)
#define FLOWGRAPH_IN_LOOPS [[gnu::always_inline]] inline
#else
#define FLOWGRAPH_IN_LOOPS
#endif

namespace flowgraph::detail {

template <class T>
struct lane_types;
template <>
struct lane_types<float> {
  typedef float packet __attribute__((vector_size(FLOWGRAPH_LANE_BYTES)));
  typedef std::int32_t bits __attribute__((vector_size(FLOWGRAPH_LANE_BYTES)));
  typedef float anywhere __attribute__((vector_size(FLOWGRAPH_LANE_BYTES), aligned(alignof(float)), may_alias));
};
template <>
struct lane_types<double> {
  typedef double packet __attribute__((vector_size(FLOWGRAPH_LANE_BYTES)));
  typedef std::int64_t bits __attribute__((vector_size(FLOWGRAPH_LANE_BYTES)));
  typedef double anywhere __attribute__((vector_size(FLOWGRAPH_LANE_BYTES), aligned(alignof(double)), may_alias));
};

template <class T>
using packet = typename lane_types<T>::packet;
template <class T>
using packet_bits = typename lane_types<T>::bits;  // integers as wide as the numbers
template <class T>
inline constexpr int lane_count = FLOWGRAPH_LANE_BYTES / static_cast<int>(sizeof(T));

template <class T>
FLOWGRAPH_ONE_STEP inline packet_bits<T> bits_of(const packet<T>& x) {
  return reinterpret_cast<packet_bits<T>>(x);
}
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> with_bits(const packet_bits<T>& x) {
  return reinterpret_cast<packet<T>>(x);
}
// One number in all lanes. The difference from 0 is the number itself, which the sum is not for -0.
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> all_lanes(T x) {
  return x - packet<T>{};
}
// The greater one, or the less; the first if either is NaN. clang makes one instruction of the comparison, g++ two.
#if defined(__SSE2__) && !defined(__clang__)
#if FLOWGRAPH_LANE_BYTES == 64
#define FLOWGRAPH_EXTREME(which, type, mask) __builtin_ia32_##which##type##512_mask(y, x, x, static_cast<mask>(-1), 4)
#elif FLOWGRAPH_LANE_BYTES == 32
#define FLOWGRAPH_EXTREME(which, type, mask) __builtin_ia32_##which##type##256(y, x)
#else
#define FLOWGRAPH_EXTREME(which, type, mask) __builtin_ia32_##which##type(y, x)
#endif
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> greater_or_first(const packet<T>& x, const packet<T>& y) {
  if constexpr (std::is_same_v<T, float>)
    return FLOWGRAPH_EXTREME(max, ps, std::uint16_t);
  else
    return FLOWGRAPH_EXTREME(max, pd, std::uint8_t);
}
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> less_or_first(const packet<T>& x, const packet<T>& y) {
  if constexpr (std::is_same_v<T, float>)
    return FLOWGRAPH_EXTREME(min, ps, std::uint16_t);
  else
    return FLOWGRAPH_EXTREME(min, pd, std::uint8_t);
}
#undef FLOWGRAPH_EXTREME
#else
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> greater_or_first(const packet<T>& x, const packet<T>& y) {
  return y > x ? y : x;
}
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> less_or_first(const packet<T>& x, const packet<T>& y) {
  return y < x ? y : x;
}
#endif

// x * y + z, rounded once where the processor does so, whatever the compiler makes of products and sums elsewhere.
#if defined(__FMA__) && __has_builtin(__builtin_ia32_vfmaddps256)
#if FLOWGRAPH_LANE_BYTES == 64
#define FLOWGRAPH_FUSED(type, mask) __builtin_ia32_vfmadd##type##512_mask(x, y, z, static_cast<mask>(-1), 4)
#elif FLOWGRAPH_LANE_BYTES == 32
#define FLOWGRAPH_FUSED(type, mask) __builtin_ia32_vfmadd##type##256(x, y, z)
#else
#define FLOWGRAPH_FUSED(type, mask) __builtin_ia32_vfmadd##type(x, y, z)
#endif
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> fused(const packet<T>& x, const packet<T>& y, const packet<T>& z) {
  if constexpr (std::is_same_v<T, float>)
    return FLOWGRAPH_FUSED(ps, std::uint16_t);
  else
    return FLOWGRAPH_FUSED(pd, std::uint8_t);
}
#undef FLOWGRAPH_FUSED
#else
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> fused(const packet<T>& x, const packet<T>& y, const packet<T>& z) {
  return x * y + z;
}
#endif
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> fused(const packet<T>& x, T y, const packet<T>& z) {
  return fused<T>(x, all_lanes(y), z);
}
template <class T>
FLOWGRAPH_ONE_STEP inline packet<T> fused(const packet<T>& x, T y, T z) {
  return fused<T>(x, all_lanes(y), all_lanes(z));
}

// What the lanes are together: the upper half with the lower one, until one is left.
template <class T, class V, class F>
FLOWGRAPH_ONE_STEP inline T across_lanes(const V& x, const F& f) {
  constexpr int count = static_cast<int>(sizeof(V) / sizeof(T));
  if constexpr (count == 16) {
    return across_lanes<T>(f(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),
                             __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15)),
                           f);
  } else if constexpr (count == 8) {
    return across_lanes<T>(f(__builtin_shufflevector(x, x, 0, 1, 2, 3), __builtin_shufflevector(x, x, 4, 5, 6, 7)), f);
  } else if constexpr (count == 4 && sizeof(V) == 32) {
    return across_lanes<T>(f(__builtin_shufflevector(x, x, 0, 1), __builtin_shufflevector(x, x, 2, 3)), f);
  } else if constexpr (count == 4) {
    const V two = f(x, __builtin_shufflevector(x, x, 2, 3, 2, 3));
    return f(two, __builtin_shufflevector(two, two, 1, 1, 1, 1))[0];
  } else {
    return f(x, __builtin_shufflevector(x, x, 1, 1))[0];
  }
}

// Can a part of the lanes be read and written in one step?
template <class T>
inline constexpr bool has_partial_lanes = std::is_same_v<T, float> && FLOWGRAPH_PARTIAL_LANES;

template <class T>
struct lanes {
  packet<T> p;

  lanes() = default;
  FLOWGRAPH_ONE_STEP lanes(const packet<T>& x) : p(x) {}
  FLOWGRAPH_ONE_STEP lanes(T x) : p(all_lanes<T>(x)) {}

  // A name for what is read: clang gives it the alignment of a packet, a temporary only that of what was read.
  FLOWGRAPH_ONE_STEP static lanes load(const T* x) {
    const packet<T> whole = *reinterpret_cast<const typename lane_types<T>::anywhere*>(x);
    return whole;
  }
  FLOWGRAPH_ONE_STEP void store(T* to) const { *reinterpret_cast<typename lane_types<T>::anywhere*>(to) = p; }

  // The first n, fewer than there are lanes; the others are `rest`, and are not stored.
  static lanes load(const T* x, int n, T rest = 0) {
    if constexpr (std::is_same_v<T, float>) {
#if FLOWGRAPH_LANE_BYTES == 64
      return __builtin_ia32_loadups512_mask(x, all_lanes<T>(rest), first_of_sixteen(n));
#elif defined(__AVX2__)
      using eights = const packet<T>*;
      const packet_bits<T> inside = first_lanes(n);
      return inside < 0 ? __builtin_ia32_maskloadps256(reinterpret_cast<eights>(x), inside) : all_lanes<T>(rest);
#endif
    }
    T all[lane_count<T>];
    for (T& to : all) to = rest;
    std::memcpy(all, x, static_cast<std::size_t>(n) * sizeof(T));
    return load(all);
  }
  void store(T* to, int n) const {
    if constexpr (std::is_same_v<T, float>) {
#if FLOWGRAPH_LANE_BYTES == 64
      return __builtin_ia32_storeups512_mask(to, p, first_of_sixteen(n));
#elif defined(__AVX2__)
      return __builtin_ia32_maskstoreps256(reinterpret_cast<packet<T>*>(to), first_lanes(n), p);
#endif
    }
    T all[lane_count<T>];
    store(all);
    std::memcpy(to, all, static_cast<std::size_t>(n) * sizeof(T));
  }

  FLOWGRAPH_ONE_STEP friend lanes operator-(const lanes& x) { return -x.p; }
  FLOWGRAPH_ONE_STEP friend lanes operator+(const lanes& x, const lanes& y) { return x.p + y.p; }
  FLOWGRAPH_ONE_STEP friend lanes operator-(const lanes& x, const lanes& y) { return x.p - y.p; }
  FLOWGRAPH_ONE_STEP friend lanes operator*(const lanes& x, const lanes& y) { return x.p * y.p; }
  FLOWGRAPH_ONE_STEP friend lanes operator/(const lanes& x, const lanes& y) { return x.p / y.p; }
  // x * y + z, rounded once where the processor does so.
  FLOWGRAPH_ONE_STEP friend lanes multiply_add(const lanes& x, const lanes& y, const lanes& z) {
    return fused<T>(x.p, y.p, z.p);
  }
  friend T sum_of(const lanes& x) {
    return across_lanes<T>(x.p, [](const auto& a, const auto& b) { return a + b; });
  }
  // Of a NaN among them nothing is promised.
  friend T greatest_of(const lanes& x) {
    return across_lanes<T>(x.p, [](const auto& a, const auto& b) { return b > a ? b : a; });
  }

 private:
  static std::uint16_t first_of_sixteen(int n) { return static_cast<std::uint16_t>((1u << n) - 1); }
  static packet_bits<T> first_lanes(int n) {
    packet_bits<T> counted;
    for (int i = 0; i < lane_count<T>; ++i) counted[i] = i;
    return n > counted;
  }
};

// Of each lane all bits or none: what comparisons give. In memory they are bool.
template <class T>
struct lane_mask {
  packet<T> p;

  FLOWGRAPH_ONE_STEP static lane_mask from(const packet_bits<T>& x) { return {with_bits<T>(x)}; }
  FLOWGRAPH_ONE_STEP packet_bits<T> bits() const { return bits_of<T>(p); }

  static lane_mask load(const bool* x, int n = lane_count<T>) {
    T all[lane_count<T>] = {};
    for (int i = 0; i < n; ++i) all[i] = static_cast<T>(x[i]);
    return from(lanes<T>::load(all).p > packet<T>{});
  }
  void store(bool* to, int n = lane_count<T>) const {
    T all[lane_count<T>];
    numbers().store(all);
    for (int i = 0; i < n; ++i) to[i] = all[i] != T(0);
  }
  // 1 and 0.
  FLOWGRAPH_ONE_STEP lanes<T> numbers() const { return with_bits<T>(bits() & bits_of<T>(all_lanes<T>(1))); }

  FLOWGRAPH_ONE_STEP friend lane_mask operator!(const lane_mask& x) { return from(~x.bits()); }
  FLOWGRAPH_ONE_STEP friend lane_mask operator&(const lane_mask& x, const lane_mask& y) {
    return from(x.bits() & y.bits());
  }
  FLOWGRAPH_ONE_STEP friend lane_mask operator|(const lane_mask& x, const lane_mask& y) {
    return from(x.bits() | y.bits());
  }
  FLOWGRAPH_ONE_STEP friend lane_mask operator^(const lane_mask& x, const lane_mask& y) {
    return from(x.bits() ^ y.bits());
  }
};

// One by one, through the scalar vocabulary.
template <class T, class F, class... X>
lanes<T> lane_by_lane(const F& f, const lanes<X>&... x) {
  struct {
    T of[lane_count<T>];
  } in[sizeof...(X)];
  int k = 0;
  (x.store(in[k++].of), ...);
  for (int i = 0; i < lane_count<T>; ++i) {
    if constexpr (sizeof...(X) == 1)
      in[0].of[i] = f(in[0].of[i]);
    else
      in[0].of[i] = f(in[0].of[i], in[1].of[i]);
  }
  return lanes<T>::load(in[0].of);
}

}  // namespace flowgraph::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
