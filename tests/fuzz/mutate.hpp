// Bytes changed at random, for compilers without libFuzzer, and for how long.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace flowgraph::testing {

// Bits, bytes, numbers at the ends of their range, pieces that are cut out, repeated or taken from another file.
inline std::string mutated(std::string bytes, const std::string& other, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(bytes.size()), length = std::min(bytes.size() - at, 1 + below(8));
    switch (random() % 8) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random());
        break;
      case 2: {
        static constexpr unsigned char ends[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, static_cast<char>(ends[below(5)]));
        break;
      }
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 5:
        bytes.resize(at);
        break;
      case 6:
        bytes.insert(at, other.substr(below(other.size()), 1 + below(64)));
        break;
      default: {
        const std::string digits = std::to_string(random() >> below(64));  // of headers that are text
        bytes.replace(at, std::min(length, digits.size()), digits);
      }
    }
  }
  return bytes;
}

// act(random) again and again: for a second, or FLOWGRAPH_FUZZ_SECONDS. How often.
template <class Act>
long long for_a_while(const Act& act) {
  const char *seconds = std::getenv("FLOWGRAPH_FUZZ_SECONDS"), *seed = std::getenv("FLOWGRAPH_FUZZ_SEED");
  std::mt19937_64 random(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10));
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration<double>(seconds == nullptr ? 1.0 : std::strtod(seconds, nullptr));
  long long count = 0;
  for (; count % 64 != 0 || std::chrono::steady_clock::now() < end; ++count) act(random);
  return count;
}

}  // namespace flowgraph::testing
