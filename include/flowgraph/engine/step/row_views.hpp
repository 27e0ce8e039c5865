// Rows of arrays in the turns of a loop, without copies: whoever reads a row reads it where it stands, if nobody
// changes the array meanwhile; a value that becomes a row is computed there. What a loop leaves behind for its
// derivatives passes through memory once on its way there, and once on its way back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <flowgraph/core/list.hpp>
#include <flowgraph/kernels/cpu/rows.hpp>
#include <flowgraph/kernels/provider.hpp>
#include <flowgraph/kernels/region.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include <flowgraph/plan/plan.hpp>

namespace flowgraph::detail {

// What an instruction runs.
struct ready_kernel {
  kernel_function kernel = nullptr;
  std::unique_ptr<prepared_kernel> prepared;  // in place of it

  void run(const kernel_args& k) const {
    if (prepared == nullptr) return kernel(k);
    prepared->run(k);
    if (k.region != nullptr && !prepared->finishes()) run_region(k);
  }
};

// An instruction, ready to be called.
struct bound_call : ready_kernel {
  const kernel_provider* by = nullptr;  // whose it is; null: the library's own
  bool writes_row = false;              // its result is computed in a row of an array
  kernel_args args;

  void operator()() const { run(args); }
};

template <class Tag = void>
bool in_slot(const operand& a, const operand& b) {
  return a.where == storage::slot && a.index == b.index;
}

// Who reads what instruction i leaves in a slot, as long as that is there.
struct slot_readers {
  bool known = true;      // false: some are in loops or branches inside, or on other devices
  bool unchanged = true;  // when they read, the array is as it was when i ran
  list<int> operands;

  slot_readers(const plan_view& p, int i, const operand& value, const operand& array) {
    const instruction& x = p.instructions[i];
    const plan_region& r = p.regions[x.region];
    bool changed = false;
    for (int k = i + 1; k < r.first + r.count; ++k) {
      const instruction& y = p.instructions[k];
      const int results = y.operands + y.n_operands;
      bool reads = false, ends = false, changes = false;
      for (int o = y.operands; o < results; ++o)
        if (in_slot(p.operands[o], value)) {
          reads = true;
          operands.push_back(o);
        }
      for (int o = results; o < results + y.n_outputs; ++o) {
        ends = ends || in_slot(p.operands[o], value);
        changes = changes || in_slot(p.operands[o], array);
      }
      // Of a loop or a branch inside it is not known which instruction is the last one.
      if (y.region != x.region && (reads || ends || changes)) known = false;
      if (reads && y.op->id == ops::send::id) known = false;
      if (reads && (changed || changes)) unchanged = false;
      if (ends) break;
      changed = changed || changes;
    }
  }
};

// A row that is read: its readers are shown where it is.
template <class Tag = void>
class basic_row_view final : public prepared_kernel {
 public:
  // Null: instruction i reads no row, or its result has to be a copy. operands: of the plan.
  static std::unique_ptr<prepared_kernel> make(const plan_view& p, int i, std::span<array_view> operands) {
    const instruction& x = p.instructions[i];
    if (x.op->id != ops::embedding_lookup::id || x.region == 0 || x.program != 0) return nullptr;
    const operand *const in = &p.operands[x.operands], &array = in[0], &row = in[x.n_operands];
    if (p.shapes[in[1].shape].rank != 0 || array.where != storage::slot) return nullptr;
    const slot_readers readers(p, i, row, array);
    if (!readers.known || !readers.unchanged) return nullptr;
    owner<basic_row_view> made(new basic_row_view);
    for (const int o : readers.operands) made->readers_.push_back(&operands[static_cast<std::size_t>(o)]);
    return std::unique_ptr<prepared_kernel>(made.release());
  }

  void run(const kernel_args& k) override {
    const array_view& array = k.in[0];
    const std::int64_t row = row_at(k.in[1], 0, array.dim(0));
    std::byte* const at = array.as<std::byte>() + row * row_size(array) * size_of(array.type);
    for (array_view* const v : readers_) v->data = at;
  }

 private:
  basic_row_view() = default;

  list<array_view*> readers_;
};
using row_view = basic_row_view<>;

// A value that becomes a row: it is computed there, and set_rows finds it in its place.
template <class Tag = void>
class basic_row_writer final : public prepared_kernel {
 public:
  // Where instruction i sets a row, wraps the call that computes it.
  static void wrap(const plan_view& p, int i, std::span<array_view> operands, std::span<bound_call> calls) {
    const instruction& x = p.instructions[i];
    if (x.op->id != ops::set_rows::id || x.region == 0 || x.in_place != 0) return;
    const operand *const in = &p.operands[x.operands], &array = in[0], &index = in[1], &value = in[2];
    if (p.shapes[index.shape].rank != 0 || value.where != storage::slot || index.where != storage::slot) return;
    const int made_by = maker_of(p, i, value, index);
    if (made_by < 0 || is_looked_at(p, i, array)) return;
    const instruction& y = p.instructions[made_by];
    bound_call& call = calls[static_cast<std::size_t>(made_by)];
    if (y.region != x.region || y.n_regions != 0 || y.op->is(trait::waits) || y.op->id == ops::recv::id ||
        y.op->id == ops::enter::id || y.op->id == ops::embedding_lookup::id || call.writes_row)
      return;
    const slot_readers readers(p, made_by, value, array);
    if (!readers.known) return;
    owner<basic_row_writer> made(new basic_row_writer);
    made->array_ = &operands[static_cast<std::size_t>(x.operands)];
    for (int o = y.operands + y.n_operands; o < y.operands + y.n_operands + y.n_outputs; ++o)
      if (in_slot(p.operands[o], value)) made->views_.push_back(&operands[static_cast<std::size_t>(o)]);
    for (const int o : readers.operands) made->views_.push_back(&operands[static_cast<std::size_t>(o)]);
    made->computes_ = {call.kernel, std::move(call.prepared)};
    call.prepared = std::unique_ptr<prepared_kernel>(made.release());
    call.writes_row = true;
  }

  void run(const kernel_args& k) override {
    const array_view &array = array_[0], &index = array_[1];
    const std::int64_t row =
        index.type == dtype::int32 ? *index.as<const std::int32_t>() : *index.as<const std::int64_t>();
    const std::int64_t bytes = row_size(array) * size_of(array.type);
    std::byte* at = nullptr;
    if (row >= 0 && row < array.dim(0)) {
      at = array.as<std::byte>() + row * bytes;
    } else {  // set_rows says so; until then the value is somewhere that is nobody's
      aside_.resize(static_cast<std::size_t>(bytes));
      at = aside_.data();
    }
    for (array_view* const v : views_) v->data = at;
    computes_.run(k);
  }
  bool finishes() const override { return true; }

 private:
  basic_row_writer() = default;

  // The instruction whose result set_rows i reads; -1: it is not in the region, or the row is chosen behind it.
  static int maker_of(const plan_view& p, int i, const operand& value, const operand& index) {
    for (int k = i - 1; k >= p.regions[p.instructions[i].region].first; --k) {
      const instruction& y = p.instructions[k];
      for (int o = y.operands + y.n_operands; o < y.operands + y.n_operands + y.n_outputs; ++o) {
        if (in_slot(p.operands[o], value)) return k;
        if (in_slot(p.operands[o], index)) return -1;
      }
    }
    return -1;
  }
  // Does anybody but set_rows i look at the array in a turn, whose row is there earlier than the plan says?
  static bool is_looked_at(const plan_view& p, int i, const operand& array) {
    const plan_region& r = p.regions[p.instructions[i].region];
    for (int k = r.first; k < r.first + r.count - 1; ++k) {
      const instruction& y = p.instructions[k];
      for (int o = y.operands; k != i && o < y.operands + y.n_operands + y.n_outputs; ++o)
        if (in_slot(p.operands[o], array)) return true;
    }
    return false;
  }

  const array_view* array_ = nullptr;  // the index behind it
  list<array_view*> views_;            // the result, and whoever reads it
  ready_kernel computes_;              // the value
  list<std::byte> aside_;              // where it is computed if there is no such row
};
using row_writer = basic_row_writer<>;

}  // namespace flowgraph::detail
