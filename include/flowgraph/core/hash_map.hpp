// From a 64-bit hash to an int, by open addressing: how shapes, names and equal nodes are found in constant time.
#pragma once
#include <cstdint>

#include "vec.hpp"

namespace flowgraph::detail {

class hash_map {
 public:
  // -1: not there.
  constexpr int find(std::uint64_t key) const {
    if (slots_.empty()) return -1;
    return slots_[slot_of(key)].value;
  }
  constexpr void set(std::uint64_t key, int value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    slot& s = slots_[slot_of(key)];
    if (s.value < 0) ++used_;
    s = {key, value};
  }
  // Room for n keys, so that a pass over n nodes never grows it.
  constexpr void reserve(int n) {
    while (2 * (n + 1) > slots_.size()) grow();
  }

 private:
  struct slot {
    std::uint64_t key = 0;
    int value = -1;
  };

  constexpr int slot_of(std::uint64_t key) const {
    const int mask = slots_.size() - 1;
    int k = static_cast<int>(key & static_cast<unsigned>(mask));
    while (slots_[k].value >= 0 && slots_[k].key != key) k = (k + 1) & mask;
    return k;
  }
  constexpr void grow() {
    const vec<slot> old = static_cast<vec<slot>&&>(slots_);
    slots_ = vec<slot>(old.empty() ? 64 : old.size() * 2);
    for (const slot& s : old)
      if (s.value >= 0) slots_[slot_of(s.key)] = s;
  }

  vec<slot> slots_;
  int used_ = 0;
};

}  // namespace flowgraph::detail
