// Programs of element-wise steps, run tile by tile: what lies between two steps never leaves the first-level cache.
// Operands of other shapes are broadcast while they are read.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <flowgraph/kernels/parallel.hpp>
#include <flowgraph/plan/plan.hpp>
#include "elementwise.hpp"

namespace flowgraph {

// Which tile each step reads and writes. A step reads registers as the plan numbers them: r >= 0 is what step r gave,
// -1-k is operand k. The last step writes the result itself; other tiles are reused as soon as nobody reads them.
struct tile_program {
  static constexpr int tile_bytes = 4096;

  struct step {
    tile_function run = nullptr;
    int in[4]{};
    int n_in = 0;
    int tile = -1;  // of its value; -1: the result
  };

  step steps[max_program_steps];
  int n_operands = 0;
  int n_steps = 0;
  int tiles = 0;     // of the steps; operands that are broadcast have one of their own each
  int elements = 0;  // of a tile: the widest type decides

  // After the steps are set.
  void assign_tiles(int widest) {
    elements = tile_bytes / widest;
    int last_use[max_program_steps]{};
    for (int s = 0; s < n_steps; ++s)
      for (int i = 0; i < steps[s].n_in; ++i)
        if (steps[s].in[i] >= 0) last_use[steps[s].in[i]] = s;
    bool busy[max_program_steps]{};
    for (int s = 0; s + 1 < n_steps; ++s) {
      int t = 0;
      while (busy[t]) ++t;
      busy[t] = true;
      steps[s].tile = t;
      tiles = std::max(tiles, t + 1);
      for (int i = 0; i < steps[s].n_in; ++i) {
        const int r = steps[s].in[i];
        if (r >= 0 && last_use[r] == s) busy[steps[r].tile] = false;
      }
    }
  }
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

namespace detail {

// Elements first to last - 1 of the result.
inline void run_tiles(const tile_program& p, const array_view* in, const array_view& out, std::int64_t begin,
                      std::int64_t end) {
  constexpr int tile_bytes = tile_program::tile_bytes;
  const std::int64_t count = out.size();
  alignas(64) std::byte tiles[(max_program_operands + max_program_steps) * tile_bytes];
  broadcast_reader readers[max_program_operands];
  const std::byte* whole[max_program_operands];  // null: the operand has a tile of its own
  const void* operands[max_program_operands];
  int sizes[max_program_operands];
  int used = p.tiles;
  for (int i = 0; i < p.n_operands; ++i) {
    const std::int64_t n = in[i].size();
    sizes[i] = size_of(in[i].type);
    whole[i] = n == count ? static_cast<const std::byte*>(in[i].data) : nullptr;
    if (n == count) continue;
    std::byte* own = tiles + used++ * tile_bytes;
    operands[i] = own;
    if (n == 1)  // the same in every tile
      repeat(own, static_cast<const std::byte*>(in[i].data), sizes[i], std::min<std::int64_t>(end - begin, p.elements));
    else
      readers[i] = broadcast_reader(in[i], out, own);
  }
  auto* result = static_cast<std::byte*>(out.data);
  const int result_size = size_of(out.type);
  const void* values[max_program_steps];
  for (std::int64_t first = begin; first < end; first += p.elements) {
    const int n = static_cast<int>(std::min<std::int64_t>(p.elements, end - first));
    for (int i = 0; i < p.n_operands; ++i) {
      if (whole[i] != nullptr)
        operands[i] = whole[i] + first * sizes[i];
      else
        readers[i].read(first, n);
    }
    for (int s = 0; s < p.n_steps; ++s) {
      const tile_program::step& step = p.steps[s];
      const void* read[4];
      for (int i = 0; i < step.n_in; ++i) read[i] = step.in[i] >= 0 ? values[step.in[i]] : operands[-1 - step.in[i]];
      std::byte* to = step.tile < 0 ? result + first * result_size : tiles + step.tile * tile_bytes;
      step.run(to, read, n);
      values[s] = to;
    }
  }
}

}  // namespace detail

// The result has the shape that all operands broadcast to; it may lie where an operand of that shape does.
inline void run_program(const tile_program& p, const kernel_args& k) {
  constexpr std::int64_t step_work = 4;  // operations for an element, between an addition and a tanh
  parallel_for(k, k.out[0].size(), part_size(p.n_steps * step_work, p.elements),
               [&](std::int64_t first, std::int64_t last) { detail::run_tiles(p, k.in, k.out[0], first, last); });
}

}  // namespace flowgraph
