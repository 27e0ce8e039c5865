// Orders that look random: the same for one seed and pass on every machine, another for the next pass.
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <flowgraph/kernels/philox.hpp>
#include "one_pass.hpp"

namespace flowgraph::detail {

class shuffle_numbers {
 public:
  shuffle_numbers(std::uint64_t seed, std::uint64_t pass) : stream_(seed, 0, pass) {}

  // Below n. The remainder of 64 bits favours no number by more than n / 2^64.
  std::uint64_t below(std::uint64_t n) { return stream_.block(drawn_++).pair(0) % n; }

 private:
  random_stream stream_;
  std::uint64_t drawn_ = 0;
};

// Keeps up to `buffer` elements and gives one of them at random, as long as there are any. Of an indexed pass that is
// shuffled whole only the numbers are shuffled, and it stays indexed.
template <class Source>
struct shuffle_source {
  Source from;
  std::uint64_t seed;
  std::size_t buffer;

  struct pass {
    sequence_of<Source> inner;
    shuffle_numbers random;
    std::size_t buffer;
    std::vector<value_of<Source>> kept{};
    bool ended = false;

    auto next() {
      std::optional<value_of<Source>> value;
      while (!ended && kept.size() < buffer) {
        if (auto more = inner.next())
          kept.push_back(*std::move(more));
        else
          ended = true;
      }
      if (kept.empty()) return value;
      std::swap(kept[random.below(kept.size())], kept.back());
      value.emplace(std::move(kept.back()));
      kept.pop_back();
      return value;
    }
  };
  auto open(std::uint64_t number) const {
    return pass{in_sequence(from.open(number)), shuffle_numbers(seed, number), buffer};
  }
};

template <class Source>
struct permute_source {
  Source from;
  std::uint64_t seed;

  struct pass {
    pass_of<Source> inner;
    std::vector<std::int64_t> order;

    std::int64_t size() const { return inner.size(); }
    auto at(std::int64_t i) const { return inner.at(order[static_cast<std::size_t>(i)]); }
  };
  auto open(std::uint64_t number) const {
    pass p{from.open(number), {}};
    p.order.resize(static_cast<std::size_t>(p.inner.size()));
    std::iota(p.order.begin(), p.order.end(), std::int64_t{0});
    shuffle_numbers random(seed, number);
    for (std::size_t i = p.order.size(); i > 1; --i) std::swap(p.order[i - 1], p.order[random.below(i)]);
    return p;
  }
};

}  // namespace flowgraph::detail
