// A row of an array that is read in a turn of a loop: whoever reads it reads it where it stands, if nobody changes the
// array meanwhile. So what a loop has left behind for its derivatives is read once, not copied first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <flowgraph/kernels/cpu/embedding.hpp>
#include <flowgraph/kernels/provider.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include <flowgraph/plan/plan.hpp>

namespace flowgraph::detail {

class row_view final : public prepared_kernel {
 public:
  // Null: instruction i reads no row, or its result has to be a copy. operands: of the plan.
  static std::unique_ptr<prepared_kernel> make(const plan_view& p, int i, std::span<array_view> operands) {
    const instruction& x = p.instructions[i];
    if (x.op->id != ops::embedding_lookup::id || x.region == 0 || x.program != 0) return nullptr;
    const operand *const in = &p.operands[x.operands], &array = in[0], &row = in[x.n_operands];
    if (p.shapes[in[1].shape].rank != 0 || array.where != storage::slot) return nullptr;
    std::vector<array_view*> readers;
    const plan_region& r = p.regions[x.region];
    bool changed = false;
    for (int k = i + 1; k < r.first + r.count; ++k) {
      const instruction& y = p.instructions[k];
      const int results = y.operands + y.n_operands;
      bool reads = false, ends = false, changes = false;
      for (int o = y.operands; o < results; ++o)
        if (in_slot(p.operands[o], row)) {
          reads = true;
          readers.push_back(&operands[static_cast<std::size_t>(o)]);
        }
      for (int o = results; o < results + y.n_outputs; ++o) {
        ends = ends || in_slot(p.operands[o], row);
        changes = changes || in_slot(p.operands[o], array);
      }
      // Of a loop or a branch inside it is not known which instruction is the last one.
      if (y.region != x.region && (reads || ends || changes)) return nullptr;
      if (reads && (changed || changes || y.op->id == ops::send::id)) return nullptr;
      if (ends) break;
      changed = changed || changes;
    }
    return std::unique_ptr<prepared_kernel>(new row_view(std::move(readers)));
  }

  void run(const kernel_args& k) override {
    const array_view& array = k.in[0];
    const std::int64_t row = row_at(k.in[1], 0, array.dim(0));
    std::byte* const at = array.as<std::byte>() + row * row_size(array) * size_of(array.type);
    for (array_view* const v : readers_) v->data = at;
  }

 private:
  explicit row_view(std::vector<array_view*> readers) : readers_(std::move(readers)) {}

  static bool in_slot(const operand& a, const operand& b) { return a.where == storage::slot && a.index == b.index; }

  std::vector<array_view*> readers_;  // operands of the instructions that read the row
};

}  // namespace flowgraph::detail
