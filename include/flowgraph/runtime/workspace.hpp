// What one running step has to itself: its memory, extents as numbers, the view of every operand. Workspaces are
// pooled; as long as extents stay the same, a step finds everything in place and only the feeds' addresses change.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <flowgraph/kernels/provider.hpp>
#include "bind_feeds.hpp"
#include "variables.hpp"

namespace flowgraph::detail {

class workspace {
 public:
  workspace(const executable& e, variable_store& variables, const kernel_provider* provider, int threads)
      : executable_(e),
        provider_(provider),
        threads_(threads),
        dims_(static_cast<std::size_t>(e.plan().dims.size())),
        operands_(static_cast<std::size_t>(e.plan().operands.size())),
        fetches_(static_cast<std::size_t>(e.plan().fetches.size())),
        prepared_(static_cast<std::size_t>(e.plan().instructions.size())),
        pending(std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(e.plan().instructions.size()))) {
    const plan_view& p = e.plan();
    for (int i = 0; i < p.operands.size(); ++i)
      prepare(p.operands[i], operands_[static_cast<std::size_t>(i)], variables);
    for (int i = 0; i < p.fetches.size(); ++i) prepare(p.fetches[i], fetches_[static_cast<std::size_t>(i)], variables);
  }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;

  // feeds: in the plan's order. Throws feed_error.
  void bind(const graph_view& g, const borrowed* feeds) {
    if (!bound_ || !same_extents(feeds)) {
      bound_ = false;
      bind_extents(g, feeds);
      bound_ = true;
    }
    for (const fed& f : fed_) f.view->data = const_cast<void*>(feeds[f.feed].data);
  }

  const array_view* operand(int i) const { return operands_.data() + i; }
  const array_view& fetch(int i) const { return fetches_[static_cast<std::size_t>(i)]; }
  // What a provider runs for instruction i; null: its own kernel.
  prepared_kernel* prepared(int i) const { return prepared_[static_cast<std::size_t>(i)].get(); }
  // What instruction i is called with; the step adds its context.
  kernel_args arguments(int i) const {
    const instruction& x = executable_.plan().instructions[i];
    kernel_args k;
    k.in = operand(x.operands);
    k.out = k.in + x.n_operands;
    k.n_in = x.n_operands;
    k.n_out = x.n_outputs;
    k.words = executable_.plan().words.data + x.attrs;
    k.n_words = x.n_attrs;
    k.node = static_cast<std::uint64_t>(x.node);
    return k;
  }
  // Elementary operations of one step, roughly.
  std::int64_t work() const { return work_; }

 private:
  struct fed {
    array_view* view;
    int feed;
  };

  void prepare(const flowgraph::operand& o, array_view& v, variable_store& variables) {
    const plan_view& p = executable_.plan();
    v.type = o.type;
    v.rank = p.shapes[o.shape].rank;
    v.dims = dims_.data() + p.shapes[o.shape].dims;
    switch (o.where) {
      case storage::none:
        break;
      case storage::slot:
        in_slots_.push_back({&v, o.index});
        break;
      case storage::variable:
        v.data = variables.of_node(p.variables[o.index].node).data.get();
        break;
      case storage::feed:
        fed_.push_back({&v, o.index});
        break;
      case storage::constant:
        v.data = executable_.constant(o.index);
        break;
      case storage::literal:
        v.data = executable_.literal(o.index);
        break;
    }
  }

  bool same_extents(const borrowed* feeds) const {
    const plan_view& p = executable_.plan();
    for (int f = 0; f < p.feeds.size(); ++f) {
      const borrowed& b = feeds[f];
      if (b.type != p.feeds[f].type) return false;
      const shape_entry& s = p.shapes[p.feeds[f].shape];
      if (b.flat) {
        std::int64_t n = 1;
        for (int i = 0; i < s.rank; ++i) n *= dims_[static_cast<std::size_t>(s.dims + i)];
        if (n != b.count) return false;
      } else {
        if (b.rank != s.rank) return false;
        for (int i = 0; i < s.rank; ++i)
          if (b.dims[i] != dims_[static_cast<std::size_t>(s.dims + i)]) return false;
      }
    }
    return true;
  }

  void bind_extents(const graph_view& g, const borrowed* feeds) {
    const plan_view& p = executable_.plan();
    const feed_binder binder(executable_, g, feeds);
    for (int i = 0; i < p.dims.size(); ++i) {
      const std::int64_t n = bound(p.dims[i], binder.symbols.data());
      dims_[static_cast<std::size_t>(i)] = std::max<std::int64_t>(n, 0);
    }
    const memory_layout layout = lay_out(p, binder.symbols.data());
    if (layout.why != problem::none) unbound(binder);
    // Shapes of the whole model are in the plan; only those that the step computes with must be known.
    for (const flowgraph::operand& o : p.operands) require_known(o, binder);
    for (const flowgraph::operand& o : p.fetches) require_known(o, binder);
    std::int64_t total = 0;
    std::vector<std::int64_t> arenas;
    for (const std::int64_t t : layout.totals) {
      arenas.push_back(total);
      total += t;
    }
    if (total > capacity_) {
      memory_.reset();
      memory_ = allocate_aligned<std::byte>(static_cast<std::size_t>(total));
      capacity_ = total;
    }
    for (const fed& s : in_slots_) {
      const int device = p.slots[s.feed].device;
      s.view->data = memory_.get() + arenas[static_cast<std::size_t>(device)] + layout.offsets[s.feed];
    }
    work_ = count_work();
    if (provider_ == nullptr) return;
    for (int i = 0; i < p.instructions.size(); ++i)
      if (p.instructions[i].program == 0)
        prepared_[static_cast<std::size_t>(i)] = provider_->prepare(*p.instructions[i].op, arguments(i), threads_);
  }

  void require_known(const flowgraph::operand& o, const feed_binder& binder) const {
    if (o.where == storage::none) return;
    for (const extent e : executable_.plan().dims_of(o.shape))
      if (bound(e, binder.symbols.data()) < 0) unbound(binder);
  }
  [[noreturn]] void unbound(const feed_binder& binder) const {
    const plan_view& p = executable_.plan();
    std::string name;
    for (int k = 0; k < p.symbols.size() && name.empty(); ++k)
      if (binder.symbols[static_cast<std::size_t>(k)] < 0) name = binder.unbound_name(k);
    throw feed_error(problem::extent_unknown, fmt::format("\"{}\" is not bound by any feed of this step", name));
  }

  std::int64_t count_work() const {
    const plan_view& p = executable_.plan();
    std::int64_t sum = 0;
    std::vector<extents> in;
    for (const instruction& x : p.instructions) {
      const array_view* views = operand(x.operands);
      if (x.n_outputs == 0) {
        sum += x.n_operands > 0 ? views->size() : 0;
        continue;
      }
      const array_view& out = views[x.n_operands];
      if (x.program != 0 || !x.op->is(trait::has_flops)) {
        sum += out.size() * (x.program != 0 ? p.programs[x.program].n_steps : 1);
        continue;
      }
      in.clear();
      for (int i = 0; i < x.n_operands; ++i) in.push_back(extents_of(views[i]));
      sum += x.op->flops(cost_query(in.data(), extents_of(out), p.attrs(x).data));
    }
    return sum;
  }
  static extents extents_of(const array_view& v) {
    extents e;
    for (int i = 0; i < v.rank; ++i) e.push(v.dim(i));
    return e;
  }

  const executable& executable_;
  const kernel_provider* provider_;
  int threads_;
  std::vector<std::int64_t> dims_;  // the plan's, as numbers
  std::vector<array_view> operands_;
  std::vector<array_view> fetches_;
  std::vector<std::unique_ptr<prepared_kernel>> prepared_;
  std::vector<fed> in_slots_;  // feed: the slot
  std::vector<fed> fed_;
  aligned_buffer<std::byte> memory_;
  std::int64_t capacity_ = 0;
  std::int64_t work_ = 0;
  bool bound_ = false;

 public:
  // Of each instruction: how many it still waits for.
  std::unique_ptr<std::atomic<int>[]> pending;
};

// Workspaces of one plan, as many as steps have run at the same time.
class workspace_pool {
 public:
  // Returns its workspace when it ends.
  class lease {
   public:
    lease(workspace_pool& pool, std::unique_ptr<workspace> w) : pool_(pool), workspace_(std::move(w)) {}
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { pool_.give(std::move(workspace_)); }
    workspace& operator*() const { return *workspace_; }

   private:
    workspace_pool& pool_;
    std::unique_ptr<workspace> workspace_;
  };

  lease take(const executable& e, variable_store& variables, const kernel_provider* provider, int threads) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto w = std::move(free_.back());
        free_.pop_back();
        return lease(*this, std::move(w));
      }
    }
    return lease(*this, std::make_unique<workspace>(e, variables, provider, threads));
  }

 private:
  void give(std::unique_ptr<workspace> w) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(w));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<workspace>> free_;
};

}  // namespace flowgraph::detail
