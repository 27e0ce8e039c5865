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
constexpr bool fits_in_memory(dtype type, const std::int64_t* dims, int rank) {
  std::int64_t room = type == dtype::none ? most_bytes : most_bytes / size_of(type);
  for (int i = 0; i < rank; ++i)
    if (dims[i] > 1) room /= dims[i];
  return room > 0;
}

// Where everything is that a step needs beside variables and feeds: what is told of a plan's memory, and what a
// workspace allocates.
struct memory_layout {
  detail::vec<std::int64_t> bytes;    // of each slot, all its parts
  detail::vec<std::int64_t> offsets;  // of each slot in its device's arena
  detail::vec<std::int64_t> totals;   // bytes of each device's arena
  // extent_unknown: a slot's size depends on a name that is not bound; too_many_elements: no machine has so much.
  problem why = problem::none;
};

// apart: of each slot, whether it has memory of its own and no place in an arena; null: none has.
constexpr memory_layout lay_out(const plan_view& p, const std::int64_t* symbols, const bool* apart = nullptr) {
  memory_layout m{detail::vec<std::int64_t>(p.slots.count), detail::vec<std::int64_t>(p.slots.count),
                  detail::vec<std::int64_t>(p.devices.count)};
  for (int i = 0; i < p.slots.count && m.why == problem::none; ++i) {
    const slot& s = p.slots.data[i];
    const std::int64_t by = bound(s.by, symbols);
    std::int64_t& total = m.totals.data[s.device];
    if (by < 0)
      m.why = problem::extent_unknown;
    else if (s.bytes != 0 && by > most_bytes / s.bytes / s.parts)
      m.why = problem::too_many_elements;
    else
      m.bytes.data[i] = (s.bytes * by + slot_alignment - 1) / slot_alignment * slot_alignment * s.parts;
    m.offsets.data[i] = total;
    if (apart == nullptr || !apart[i]) total += m.bytes.data[i];
    if (total > most_bytes) m.why = problem::too_many_elements;
  }
  return m;
}

constexpr memory_layout bind(const plan_view& p, detail::slice<binding> bindings) {
  const detail::vec<std::int64_t> symbols = bind_symbols(p, bindings);
  return lay_out(p, symbols.begin());
}

// What a step needs beside variables and feeds, on this device or, with -1, on all of them together; negative: an
// extent is not bound, or there is no such memory.
constexpr std::int64_t peak_bytes(const plan_view& p, detail::slice<binding> bindings, int device = -1) {
  const memory_layout m = bind(p, bindings);
  if (m.why != problem::none) return -1;
  std::int64_t sum = 0;
  for (int k = 0; k < m.totals.count; ++k)
    if (device < 0 || k == device) sum += m.totals[k];
  return sum;
}

// What goes through a channel, each time it is used; news are nothing. -1: an extent is not bound.
constexpr std::int64_t bytes_sent(const plan_view& p, const channel& c, detail::slice<binding> bindings) {
  const operand* const carried = p.carried_by(c);
  if (carried == nullptr) return 0;
  const detail::vec<std::int64_t> symbols = bind_symbols(p, bindings);
  std::int64_t bytes = size_of(carried->type);
  for (const extent e : p.dims_of(carried->shape)) {
    if (bound(e, symbols.data) < 0) return -1;
    bytes *= bound(e, symbols.data);
  }
  return bytes;
}

// All that a step sends from one device to another; of a part of a plan, also what it receives. What is sent in a loop
// or a branch counts once.
constexpr std::int64_t bytes_sent(const plan_view& p, detail::slice<binding> bindings) {
  std::int64_t sum = 0;
  for (const channel& c : p.channels) {
    const std::int64_t bytes = bytes_sent(p, c, bindings);
    if (bytes < 0) return -1;
    sum += bytes;
  }
  return sum;
}

}  // namespace flowgraph
