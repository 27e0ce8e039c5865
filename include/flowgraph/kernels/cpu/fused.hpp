// Programs of element-wise steps, run tile by tile: what lies between two steps never leaves the first-level cache.
// Operands of other shapes are broadcast while they are read.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <flowgraph/plan/plan.hpp>
#include "elementwise.hpp"

namespace flowgraph {

// Which tile each step reads and writes. A step reads registers as the plan numbers them: r >= 0 is what step r gave,
// -1-k is operand k. The last step writes the result itself; other tiles are reused as soon as nobody reads them.
struct tile_program final : region_kernel {
  static constexpr int tile_bytes = 4096;

  struct step {
    tile_function run = nullptr;
    int in[4]{};
    int n_in = 0;
    int tile = -1;  // of its value; -1: the result
  };

  step code[max_program_steps];
  int n_steps = 0;
  int tiles = 0;            // of the steps; operands that are broadcast have one of their own each
  int elements = 0;         // of a tile: the widest type decides
  std::uint32_t reads = 0;  // bit k: operand k

  // After the steps are set.
  void assign_tiles(int widest) {
    elements = tile_bytes / widest;
    int last_use[max_program_steps]{};
    for (int s = 0; s < n_steps; ++s)
      for (int i = 0; i < code[s].n_in; ++i) {
        const int r = code[s].in[i];
        if (r >= 0)
          last_use[r] = s;
        else
          reads |= 1u << (-1 - r);
      }
    bool busy[max_program_steps]{};
    for (int s = 0; s + 1 < n_steps; ++s) {
      int t = 0;
      while (busy[t]) ++t;
      busy[t] = true;
      code[s].tile = t;
      tiles = std::max(tiles, t + 1);
      for (int i = 0; i < code[s].n_in; ++i) {
        const int r = code[s].in[i];
        if (r >= 0 && last_use[r] == s) busy[code[r].tile] = false;
      }
    }
  }

  void compute(const array_view* operands, const array_view& value, void* to, std::int64_t first,
               std::int64_t last) const override;
};

namespace detail {

// count copies of an element of `size` bytes.
inline void repeat(std::byte* to, const std::byte* from, int size, std::int64_t count) {
  if (count <= 0) return;
  std::memcpy(to, from, static_cast<std::size_t>(size));
  for (std::int64_t done = 1; done < count;) {
    const std::int64_t next = std::min(done, count - done);
    std::memcpy(to + done * size, to, static_cast<std::size_t>(next * size));
    done += next;
  }
}

// Reads an operand as if it had the result's shape, tile by tile: axes along which it is repeated have stride 0.
class broadcast_reader {
 public:
  broadcast_reader() = default;
  broadcast_reader(const array_view& from, const array_view& to, std::byte* tile)
      : data_(static_cast<const std::byte*>(from.data)),
        tile_(tile),
        size_(size_of(from.type)) {
    std::int64_t stride = 1;
    for (int i = 0; i < to.rank; ++i) {  // from the back; neighbours that walk alike become one axis
      const std::int64_t extent = to.last(i), own = i < from.rank ? from.last(i) : 1;
      if (extent == 1) continue;
      const bool repeated = own == 1;
      if (rank_ > 0 && repeated == (stride_[rank_ - 1] == 0)) {
        extent_[rank_ - 1] *= extent;
      } else {
        extent_[rank_] = extent;
        stride_[rank_++] = repeated ? 0 : stride;
      }
      stride *= own;
    }
  }

  // Elements first to first + n - 1 of the result's order, into the tile. Nothing to do without axes: an operand
  // of one element.
  void read(std::int64_t first, std::int64_t n) const {
    if (rank_ == 0) return;
    std::byte* to = tile_;
    std::int64_t index[max_rank], at = 0;
    for (int i = 0; i < rank_; ++i) {  // axis 0 is the innermost
      index[i] = first % extent_[i];
      first /= extent_[i];
      at += index[i] * stride_[i];
    }
    while (n > 0) {
      const std::int64_t run = std::min(n, extent_[0] - index[0]);
      if (stride_[0] == 0)
        repeat(to, data_ + at * size_, size_, run);
      else
        std::memcpy(to, data_ + at * size_, static_cast<std::size_t>(run * size_));
      to += run * size_;
      n -= run;
      at -= index[0] * stride_[0];
      index[0] = 0;
      for (int i = 1; i < rank_; ++i) {
        at += stride_[i];
        if (++index[i] < extent_[i]) break;
        at -= index[i] * stride_[i];
        index[i] = 0;
      }
    }
  }

 private:
  const std::byte* data_ = nullptr;
  std::byte* tile_ = nullptr;
  int size_ = 0;
  int rank_ = 0;
  std::int64_t extent_[max_rank]{};
  std::int64_t stride_[max_rank]{};
};

}  // namespace detail

inline void tile_program::compute(const array_view* in, const array_view& value, void* to, std::int64_t begin,
                                  std::int64_t end) const {
  const std::int64_t count = value.size();
  alignas(64) std::byte memory[(max_program_operands + max_program_steps) * tile_bytes];
  struct reader {
    int operand;
    int size;
    const std::byte* whole;  // null: the operand has a tile of its own
    detail::broadcast_reader broadcast;
  } readers[max_program_operands];
  const void* operands[max_region_operands];
  int n_readers = 0, used = tiles;
  for (int k = 0; reads >> k != 0; ++k) {
    if (!(reads >> k & 1)) continue;
    const std::int64_t n = in[k].size();
    reader& r = readers[n_readers++] = {k, size_of(in[k].type), nullptr, {}};
    if (n == count) {
      r.whole = static_cast<const std::byte*>(in[k].data);
      continue;
    }
    std::byte* own = memory + used++ * tile_bytes;
    operands[k] = own;
    if (n == 1)  // the same in every tile
      detail::repeat(own, static_cast<const std::byte*>(in[k].data), r.size,
                     std::min<std::int64_t>(end - begin, elements));
    else
      r.broadcast = detail::broadcast_reader(in[k], value, own);
  }
  auto* result = static_cast<std::byte*>(to);
  const int result_size = size_of(value.type);
  const void* values[max_program_steps];
  for (std::int64_t first = begin; first < end; first += elements) {
    const int n = static_cast<int>(std::min<std::int64_t>(elements, end - first));
    for (int i = 0; i < n_readers; ++i) {
      if (readers[i].whole != nullptr)
        operands[readers[i].operand] = readers[i].whole + first * readers[i].size;
      else
        readers[i].broadcast.read(first, n);
    }
    for (int s = 0; s < n_steps; ++s) {
      const void* read[4];
      for (int i = 0; i < code[s].n_in; ++i)
        read[i] = code[s].in[i] >= 0 ? values[code[s].in[i]] : operands[-1 - code[s].in[i]];
      std::byte* tile = code[s].tile < 0 ? result + (first - begin) * result_size : memory + code[s].tile * tile_bytes;
      code[s].run(tile, read, n);
      values[s] = tile;
    }
  }
}

}  // namespace flowgraph
