// From a 64-bit hash to an int, by open addressing: how shapes, names and equal nodes are found in constant time.
#pragma once
#include <cstdint>

#include "other_half.hpp"
#include "vec.hpp"

namespace flowgraph::detail {

class hash_map {
 public:
  // -1: not there.
  constexpr int find(std::uint64_t key) const { return used_ == 0 ? -1 : slot_of(key)->value; }
  FLOWGRAPH_CONSTEXPR void set(std::uint64_t key, int value) {
    if (2 * (used_ + 1) > slots_.count) grow();
    slot* s = slot_of(key);
    used_ += s->value < 0;
    *s = {key, value};
  }
  // What is there already; -1: nothing was, and now it is this value.
  FLOWGRAPH_CONSTEXPR int find_or_set(std::uint64_t key, int value) {
    if (2 * (used_ + 1) > slots_.count) grow();
    slot* s = slot_of(key);
    if (s->value >= 0) return s->value;
    ++used_, *s = {key, value};
    return -1;
  }
  // Room for n keys, so that a pass over n nodes never grows it.
  constexpr void reserve(int n) {
    int slots = slots_.count == 0 ? 64 : slots_.count;
    while (2 * (n + 1) > slots) slots *= 2;
    if (slots > slots_.count) grow(slots);
  }

 private:
  struct slot {
    std::uint64_t key = 0;
    int value = -1;
  };

  constexpr slot* slot_of(std::uint64_t key) const {
    slot* s = slots_.data + ((key ^ (key >> 32)) & mask_);  // texts' hashes are weak in their low bits
    while (s->value >= 0 && s->key != key) s = s + 1 == slots_.data + slots_.count ? slots_.data : s + 1;
    return s;
  }
  constexpr void grow() { grow(slots_.count == 0 ? 64 : slots_.count * 4); }
  FLOWGRAPH_CONSTEXPR void grow(int slots) {
    const vec<slot> old = static_cast<vec<slot>&&>(slots_);
    slots_ = vec<slot>(slots);
    mask_ = static_cast<unsigned>(slots - 1);
    if (used_ == 0) return;
    for (const slot& s : old)
      if (s.value >= 0) *slot_of(s.key) = s;
  }

  unsigned mask_ = 0;
  vec<slot> slots_;
  int used_ = 0;
};

}  // namespace flowgraph::detail
