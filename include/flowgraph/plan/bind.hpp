// Named extents become numbers: where each slot begins, and how much memory a step takes.
#pragma once
#include <cstdint>

#include <flowgraph/core/dim.hpp>
#include "plan.hpp"

namespace flowgraph {

inline constexpr std::int64_t slot_alignment = 64;

// The number of every symbol; -1 where a name in it is not bound.
constexpr detail::vec<std::int64_t> bind_symbols(const plan_view& p, detail::slice<binding> bindings) {
  const auto lookup = [&](std::string_view name) {
    for (const binding& b : bindings)
      if (b.name == name) return b.value;
    return std::int64_t{-1};
  };
  detail::vec<std::int64_t> values(p.symbols.size());
  for (int i = 0; i < values.size(); ++i) values[i] = detail::evaluate_extent(p.text(p.symbols[i]), lookup);
  return values;
}

// The extent as a number, given bind_symbols' values.
constexpr std::int64_t bound(extent e, const std::int64_t* symbols) { return e >= 0 ? e : symbols[-1 - e]; }

// More than any machine has, and far from where sums of them overflow.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 48;

// Can there be so much memory? Extents of 0 do not make others small: kernels multiply them in any order.
constexpr bool fits_in_memory(const slot& s, const std::int64_t* symbols) {
  const std::int64_t by = bound(s.by, symbols);
  return s.bytes == 0 || by <= most_bytes / s.bytes;
}
constexpr bool fits_in_memory(dtype type, const std::int64_t* dims, int rank) {
  std::int64_t room = type == dtype::none ? most_bytes : most_bytes / size_of(type);
  for (int i = 0; i < rank; ++i)
    if (dims[i] > 1) room /= dims[i];
  return room > 0;
}

// Bytes that a slot takes in an arena; negative: its size depends on a name that is not bound.
constexpr std::int64_t slot_bytes(const slot& s, const std::int64_t* symbols) {
  const std::int64_t by = bound(s.by, symbols);
  return by < 0 ? by : (s.bytes * by + slot_alignment - 1) / slot_alignment * slot_alignment;
}

struct memory_layout {
  detail::vec<std::int64_t> offsets;  // of each slot in its device's arena
  detail::vec<std::int64_t> totals;   // bytes of each device's arena
  problem why = problem::none;        // extent_unknown: a slot's size depends on a name that is not bound
};

constexpr memory_layout lay_out(const plan_view& p, const std::int64_t* symbols) {
  memory_layout m;
  m.offsets = detail::vec<std::int64_t>(p.slots.size());
  m.totals = detail::vec<std::int64_t>(p.devices.size());
  for (int i = 0; i < p.slots.size(); ++i) {
    const slot& s = p.slots[i];
    const std::int64_t bytes = slot_bytes(s, symbols);
    if (bytes < 0) m.why = problem::extent_unknown;
    m.offsets[i] = m.totals[s.device];
    m.totals[s.device] += bytes;
  }
  return m;
}

constexpr memory_layout bind(const plan_view& p, detail::slice<binding> bindings) {
  const detail::vec<std::int64_t> symbols = bind_symbols(p, bindings);
  return lay_out(p, symbols.begin());
}

// What a step needs beside variables and feeds, on all devices together; -1: an extent is not bound.
constexpr std::int64_t peak_bytes(const plan_view& p, detail::slice<binding> bindings) {
  const memory_layout m = bind(p, bindings);
  if (m.why != problem::none) return -1;
  std::int64_t sum = 0;
  for (const std::int64_t t : m.totals) sum += t;
  return sum;
}

}  // namespace flowgraph
