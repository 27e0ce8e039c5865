// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3" (SC'11), and the streams drawn from it. A number depends on its stream and its place alone, so it is the
// same on any number of threads and devices.
#pragma once
#include <cstdint>

#include <flowgraph/core/hash.hpp>

namespace flowgraph {

struct philox_block {
  std::uint32_t word[4];

  constexpr bool operator==(const philox_block&) const = default;
  // Two words as one: which is 0 or 1.
  constexpr std::uint64_t pair(int which) const {
    return (static_cast<std::uint64_t>(word[2 * which + 1]) << 32) | word[2 * which];
  }
};

// Ten rounds over a counter of 128 bits under a key of 64.
constexpr philox_block philox4x32_10(philox_block counter, std::uint64_t key) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ k0, static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ k1, static_cast<std::uint32_t>(a)}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return counter;
}

// The numbers that one node draws in one step of a session.
class random_stream {
 public:
  constexpr random_stream(std::uint64_t seed, std::uint64_t node, std::uint64_t step)
      : key_(detail::mix(detail::mix(0, seed), node)),  // one to one in the node: no two streams of a seed are equal
        step_(step) {}

  // attempt: drawn again because an earlier one was rejected.
  constexpr philox_block block(std::uint64_t index, std::uint32_t attempt = 0) const {
    return philox4x32_10({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32) ^ (attempt << 16),
                           static_cast<std::uint32_t>(step_), static_cast<std::uint32_t>(step_ >> 32)}},
                         key_);
  }

 private:
  std::uint64_t key_;
  std::uint64_t step_;
};

}  // namespace flowgraph
