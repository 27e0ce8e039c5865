// What one running step has to itself: its memory, extents as numbers, every instruction with its arguments. Workspaces
// are pooled; as long as extents stay the same, a step finds everything in place and only the feeds' addresses change.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/devices/attempts.hpp>
#include <flowgraph/engine/devices/cpu.hpp>
#include <flowgraph/engine/rendezvous/local.hpp>
#include <flowgraph/engine/resources/resource_store.hpp>
#include <flowgraph/engine/state/variables.hpp>
#include <flowgraph/engine/step/awaited.hpp>
#include <flowgraph/engine/step/row_views.hpp>
#include <flowgraph/engine/step/work.hpp>
#include <flowgraph/engine/threads/ready_ring.hpp>
#include <flowgraph/kernels/cpu/packed_product.hpp>
#include <flowgraph/kernels/provider.hpp>
#include <flowgraph/kernels/region.hpp>
#include <flowgraph/kernels/stacks.hpp>
#include "bind_feeds.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_workspace {
 public:
  // elsewhere: for channels whose other end is not in the plan; null: there are none.
  basic_workspace(const executable& e, variable_store& variables, resource_store& resources,
                  const kernel_provider* provider, const session_options& o, rendezvous_source* elsewhere = nullptr)
      : executable_(e),
        provider_(provider),
        options_(o),
        dims_(static_cast<std::size_t>(e.plan().dims.size())),
        operands_(static_cast<std::size_t>(e.plan().operands.size())),
        fetches_(static_cast<std::size_t>(e.plan().fetches.size())),
        calls_(static_cast<std::size_t>(e.plan().instructions.size())),
        contexts_(static_cast<std::size_t>(1 + e.flows().loops())),
        turns_(contexts_.size()),
        waits_for_(list<std::atomic<int>>(calls_.size())),
        left_in_(list<std::atomic<int>>(static_cast<std::size_t>(e.plan().regions.size()))),
        ring_(e.plan().instructions.size()) {
    const plan_view& p = e.plan();
    for (int k = 0; k < p.devices.size(); ++k) arenas_.emplace_back(e.device_of(k));
    for (const channel& c : p.channels)
      if (c.shared) {
        sent_.resize(static_cast<std::size_t>(p.slots.size()));
        sent_[static_cast<std::size_t>(c.slot)] = &p.operands[p.instructions[c.send].operands];
      }
    for (int i = 0; i < p.operands.size(); ++i)
      prepare(p.operands[i], operands_[static_cast<std::size_t>(i)], variables);
    for (int i = 0; i < p.fetches.size(); ++i) {
      prepare(p.fetches[i], fetches_[static_cast<std::size_t>(i)], variables);
      if (p.fetches[i].where != storage::none) values_.push_back(i);
    }
    for (int i = 0; i < p.instructions.size(); ++i) prepare(p.instructions[i], calls_[static_cast<std::size_t>(i)]);
    if (e.flows().waits()) make_awaited(resources, elsewhere);
    find_versions(variables);
    find_accesses(variables);
  }
  basic_workspace(const basic_workspace&) = delete;
  basic_workspace& operator=(const basic_workspace&) = delete;

  // feeds: in the plan's order. Throws feed_error.
  void bind(const graph_view& g, const borrowed* const* feeds) {
    if (!bound_ || !same_extents(feeds)) {
      bound_ = false;
      bind_extents(g, feeds);
      bound_ = true;
    }
    for (const fed& f : fed_) f.view->data = const_cast<void*>(feeds[f.feed]->data);
    for (gift& x : gifts_)
      if (x.memory == nullptr) wrap(x);
  }
  // For the instructions of the next step.
  void set_context(const kernel_context& c) {
    stacks_.clear();
    if (here_ != nullptr) here_->begin({c.step, landings_});
    if (elsewhere_ != nullptr) elsewhere_->begin({c.step, landings_});
    for (loop_context& u : contexts_) {
      u.reading = c;
      u.reading.stacks = &stacks_;
      u.updating = u.reading;
      u.updating.interrupt = nullptr;  // a variable is never left half changed
    }
  }
  // A loop begins, within the loop `around` or none (0); goes on with its next turn; how far it is.
  void begin_loop(int loop, int around) {
    loop_turn& t = turns_[static_cast<std::size_t>(loop)];
    t = {0, contexts_[static_cast<std::size_t>(around)].reading.turn};
    set_turn(loop, mix(t.around, 1));
  }
  void next_turn(int loop) {
    loop_turn& t = turns_[static_cast<std::size_t>(loop)];
    set_turn(loop, mix(t.around, static_cast<std::uint64_t>(++t.turns) + 1));
  }
  std::int64_t turns_of(int loop) const { return turns_[static_cast<std::size_t>(loop)].turns; }

  const plan_view& plan() const { return executable_.plan(); }
  const array_view* operand(int i) const { return operands_.data() + i; }
  const bound_call& call(int i) const { return calls_[static_cast<std::size_t>(i)]; }
  const kernel_context& context() const { return contexts_[0].reading; }
  std::size_t values() const { return values_.size(); }
  // The fetch that has the k-th value; operations have none.
  const array_view& value(std::size_t k) const { return fetches_[static_cast<std::size_t>(values_[k])]; }
  // The memory of the k-th value, for the caller to keep; null where it is small or not the step's to give.
  aligned_buffer<std::byte> give(std::size_t k) {
    for (gift& x : gifts_)
      if (x.value == k) return std::move(x.memory);
    return nullptr;
  }
  // How the step runs with the extents at hand.
  walk how() const { return how_; }

  // Variables that instruction i uses, that the k-th value is, and that the whole step uses.
  std::span<const variable_access> used_by(int i) const { return within(of_call_, static_cast<std::size_t>(i)); }
  std::span<const variable_access> used_by_value(std::size_t k) const { return within(of_value_, k); }
  std::span<const variable_access> used() const { return of_step_; }

  // Of a plan that is run by readiness. Of an instruction: how many of its region it still waits for. Of a region: how
  // many of its instructions are not done.
  std::atomic<int>& waits_for(int i) { return waits_for_[static_cast<std::size_t>(i)]; }
  std::atomic<int>& left_in(int region) { return left_in_[static_cast<std::size_t>(region)]; }
  ready_ring& ring() { return ring_; }
  // What may have to wait, in the order of the plan.
  const list<owner<awaited>>& all_awaited() const { return awaited_; }
  // Null: instruction i never waits.
  awaited* awaited_of(int i) const { return awaited_of_.empty() ? nullptr : awaited_of_[static_cast<std::size_t>(i)]; }
  // Are parts of the step run elsewhere? They are told that it has failed here.
  bool has_peers() const { return elsewhere_ != nullptr; }
  void abort(problem why, std::string_view reason) noexcept { elsewhere_->abort(why, reason); }
  // The step is over.
  void leave() {
    for (const auto& p : awaited_) p->what->leave();
    if (elsewhere_ != nullptr) elsewhere_->end();
  }

 private:
  struct fed {
    array_view* view;
    int feed;
  };
  // A large value that is fetched has memory of its own, which leaves with it instead of being copied. Whatever else
  // lives in its slot lives there, too.
  struct gift {
    std::size_t value;
    int slot;
    std::size_t bytes;
    aligned_buffer<std::byte> memory;
  };
  struct loop_context {
    kernel_context reading, updating;
  };
  struct accesses {
    list<variable_access> all;
    list<std::size_t> ends;
  };

  // What tells kernels in the loop which turn it is.
  void set_turn(int loop, std::uint64_t turn) {
    loop_context& c = contexts_[static_cast<std::size_t>(loop)];
    c.reading.turn = c.updating.turn = turn;
  }

  // Where an operand is: what devices share is where it was sent.
  const flowgraph::operand& origin(const flowgraph::operand& of) const {
    const flowgraph::operand* o = &of;
    while (!sent_.empty() && o->where == storage::slot && sent_[static_cast<std::size_t>(o->index)] != nullptr)
      o = sent_[static_cast<std::size_t>(o->index)];
    return *o;
  }
  void prepare(const flowgraph::operand& of, array_view& v, variable_store& variables) {
    const plan_view& p = executable_.plan();
    v.type = of.type;
    v.rank = p.shapes[of.shape].rank;
    v.dims = dims_.data() + p.shapes[of.shape].dims;
    const flowgraph::operand& o = origin(of);
    switch (o.where) {
      case storage::none:
        break;
      case storage::slot:
        in_slots_.push_back({&v, o.index});
        break;
      case storage::variable: {
        const variable_use& use = p.variables[o.index];
        const variable_state& state = variables.of_node(use.node);
        v.data = state.data.get();
        // Without locks nobody counts.
        if (!use.written && options_.updates != update_policy::lock_free) v.version = &state.version;
        break;
      }
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
  void prepare(const instruction& x, bound_call& to) {
    const plan_view& p = executable_.plan();
    const code& c = executable_.code_of(static_cast<int>(&x - p.instructions.data));
    to.kernel = c.kernel;
    to.args.region = c.region;
    to.args.in = operand(x.operands);
    to.args.out = to.args.in + x.n_operands;
    to.args.n_in = x.program == 0 ? x.n_operands : p.programs[x.program].own;
    to.args.n_out = x.n_outputs;
    to.args.words = p.words.data + x.attrs;
    to.args.n_words = x.n_attrs;
    to.args.node = static_cast<std::uint64_t>(x.node);
    const loop_context& loop = contexts_[static_cast<std::size_t>(
        executable_.flows().loop_around(static_cast<int>(&x - p.instructions.data)))];
    to.args.context = x.op->is(trait::writes_operand) ? &loop.updating : &loop.reading;
  }
  void make_awaited(resource_store& resources, rendezvous_source* elsewhere) {
    const plan_view& p = executable_.plan();
    landings_.resize(static_cast<std::size_t>(p.channels.size()));
    for (int k = 0; k < p.channels.size(); ++k) {
      const channel& c = p.channels[k];
      if (is_here(c) && here_ == nullptr) here_ = std::unique_ptr<rendezvous>(new local_rendezvous(p));
      if (is_elsewhere(c) && elsewhere_ == nullptr) elsewhere_ = make_elsewhere(elsewhere);
      if (c.slot < 0 || c.shared || c.receive < 0) continue;
      landings_[static_cast<std::size_t>(k)] = call(c.receive).args.out[0];
      in_slots_.push_back({&landings_[static_cast<std::size_t>(k)], c.slot});
    }
    awaited_of_.resize(calls_.size());
    for (int i = 0; i < p.instructions.size(); ++i) {
      if (!executable_.flows().may_wait(i)) continue;
      awaited_.push_back(make_owner<awaited>(i, make_attempt(i, resources)));
      awaited_of_[static_cast<std::size_t>(i)] = awaited_.back().get();
    }
  }
  std::unique_ptr<attempt> make_attempt(int i, resource_store& resources) {
    const instruction& x = executable_.plan().instructions[i];
    if (carries(x)) return end_of_channel(x);
    if (!executable_.flows().is_device_work(i)) return resources.make_attempt(executable_.plan(), x, this);
    return std::unique_ptr<attempt>(
        new device_call(*executable_.device_of(x.device), call(i), options_.updates == update_policy::overlapping));
  }
  std::unique_ptr<rendezvous> make_elsewhere(rendezvous_source* source) const {
    if (source == nullptr) throw argument_error(problem::peer_absent, sentence(problem::peer_absent));
    return source->make(executable_.plan());
  }
  std::unique_ptr<attempt> end_of_channel(const instruction& x) {
    const plan_view& p = executable_.plan();
    const auto k = static_cast<int>(p.words[x.attrs]);
    const channel& c = p.channels[k];
    const bool sends = x.op->id == ops::send::id;
    rendezvous& r = is_here(c) ? *here_ : *elsewhere_;
    std::unique_ptr<attempt> end = sends ? r.sender(k) : r.receiver(k);
    const array_view& landing = landings_[static_cast<std::size_t>(k)];
    device* by = executable_.device_of(sends ? c.from : c.to);
    if (by == nullptr && sends) by = executable_.device_of(c.to);
    if (by == nullptr || !is_here(c) || landing.type == dtype::none) return end;
    return std::unique_ptr<attempt>(new device_copy(*by, std::move(end), landing, depth_of(p, c), sends));
  }

  // Within loops also variables have versions that the step changes before or behind: all turns see the same value.
  void find_versions(variable_store& variables) {
    const plan_view& p = executable_.plan();
    if (options_.updates == update_policy::lock_free) return;  // nobody counts
    list<bool> written(static_cast<std::size_t>(p.variables.size()));
    for (const instruction& x : p.instructions)
      if (x.region != 0 && x.op->is(trait::writes_operand) && p.operands[x.operands].where == storage::variable)
        written[static_cast<std::size_t>(p.operands[x.operands].index)] = true;
    for (const instruction& x : p.instructions)
      for (int k = x.operands; x.region != 0 && k < x.operands + x.n_operands; ++k) {
        const flowgraph::operand& o = p.operands[k];
        if (o.where == storage::variable && !written[static_cast<std::size_t>(o.index)])
          operands_[static_cast<std::size_t>(k)].version = &variables.of_node(p.variables[o.index].node).version;
      }
  }

  // Each list in the order in which variables are locked.
  void find_accesses(variable_store& variables) {
    const plan_view& p = executable_.plan();
    const auto add = [&](list<variable_access>& to, std::size_t first, const flowgraph::operand& o, bool write) {
      if (o.where != storage::variable) return;
      add_access(to, first, &variables.of_node(p.variables[o.index].node), write);
    };
    for (const instruction& x : p.instructions) {
      const std::size_t first = of_call_.all.size();
      for (int k = 0; k < x.n_operands; ++k) {
        const flowgraph::operand& o = p.operands[x.operands + k];
        const bool write = k == 0 && x.op->is(trait::writes_operand);
        add(of_call_.all, first, o, write);
        add(of_step_, 0, o, write);
      }
      of_call_.ends.push_back(of_call_.all.size());
    }
    for (const int i : values_) {
      add(of_value_.all, of_value_.all.size(), p.fetches[i], false);
      add(of_step_, 0, p.fetches[i], false);
      of_value_.ends.push_back(of_value_.all.size());
    }
  }
  static std::span<const variable_access> within(const accesses& a, std::size_t i) {
    const std::size_t first = i == 0 ? 0 : a.ends[i - 1];
    return {a.all.data() + first, a.ends[i] - first};
  }

  bool same_extents(const borrowed* const* feeds) const {
    const plan_view& p = executable_.plan();
    for (int f = 0; f < p.feeds.size(); ++f) {
      const borrowed& b = *feeds[f];
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

  void bind_extents(const graph_view& g, const borrowed* const* feeds) {
    const plan_view& p = executable_.plan();
    const feed_binder binder(executable_, g, feeds);
    for (int i = 0; i < p.dims.size(); ++i) {
      const std::int64_t n = bound(p.dims[i], binder.symbols.data());
      dims_[static_cast<std::size_t>(i)] = std::max<std::int64_t>(n, 0);
    }
    for (const extent_check& c : p.checks) {  // first: it says more than that an extent is negative
      const std::int64_t whole = bound(c.whole, binder.symbols.data()), part = bound(c.part, binder.symbols.data());
      if (whole >= 0 && part >= 0 && whole - part < c.least) no_room(g, c, whole, part);
    }
    memory_layout m = lay_out(p, binder.symbols.data());
    if (m.why == problem::extent_unknown) unbound(binder);
    if (m.why != problem::none) too_large();
    // Shapes of the whole model are in the plan; only those that the step computes with must be known.
    for (const flowgraph::operand& o : p.operands) require_known(o, binder);
    for (const flowgraph::operand& o : p.fetches) require_known(o, binder);
    for (const array_view& v : operands_)
      if (!fits_in_memory(v.type, v.dims, v.rank)) too_large();
    for (const fed& s : in_slots_)  // a plan that is wrong must reach no memory but its own
      if (aligned_bytes(*s.view) > m.bytes[s.feed])
        throw plan_error(problem::invalid_plan, sentence(problem::invalid_plan));
    choose_gifts(m);
    if (!gifts_.empty()) {
      vec<bool> apart(p.slots.size());
      for (const gift& x : gifts_) apart[x.slot] = true;
      m = lay_out(p, binder.symbols.data(), apart.data);
    }
    for (int k = 0; k < p.devices.size(); ++k) arenas_[static_cast<std::size_t>(k)].make_room(m.totals[k]);
    for (const fed& s : in_slots_)
      s.view->data = arenas_[static_cast<std::size_t>(p.slots[s.feed].device)].memory() + m.offsets[s.feed];
    how_ = choose_walk(step_work(p, operands_.data()), p.instructions.size(), options_);
    for (bound_call& c : calls_) c.prepared = nullptr, c.writes_row = false;
    // Where instructions run beside each other, each has one thread.
    const int threads = how_ == walk::spread ? options_.threads : 1;
    for (int i = 0; i < p.instructions.size(); ++i)
      if (p.instructions[i].program == 0 || p.programs[p.instructions[i].program].role == program_role::after)
        prepare_kernel(i, threads);
    for (int i = 0; i < p.instructions.size() && !options_.check_numerics; ++i)
      row_writer::wrap(p, i, operands_, calls_);
  }
  void prepare_kernel(int i, int threads) {
    const op_def& op = *executable_.plan().instructions[i].op;
    bound_call& to = calls_[static_cast<std::size_t>(i)];
    // Whoever checks every result has to find it in its place.
    to.prepared = options_.check_numerics ? nullptr : row_view::make(executable_.plan(), i, operands_);
    if (to.prepared == nullptr && (provider_ == nullptr || !provider_->first))
      to.prepared = packed_product::make(op, to.args);
    to.by = nullptr;
    if (to.prepared != nullptr || provider_ == nullptr) return;
    to.prepared = provider_->prepare(op, to.args, threads);
    if (to.prepared != nullptr) to.by = provider_;
  }

  void choose_gifts(const memory_layout& m) {
    constexpr std::int64_t large = 1 << 14;
    const plan_view& p = executable_.plan();
    gifts_.clear();
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const flowgraph::operand& o = origin(p.fetches[values_[k]]);
      if (o.where != storage::slot || is_gift(o.index) || executable_.device_of(p.slots[o.index].device) != nullptr)
        continue;
      const std::int64_t whole = m.bytes[o.index], bytes = aligned_bytes(value(k));
      // A slot that served much larger values before is not worth keeping for this one.
      if (bytes >= large && whole <= 2 * bytes)
        gifts_.push_back({k, o.index, static_cast<std::size_t>(whole), nullptr});
    }
  }
  bool is_gift(int slot) const {
    return std::any_of(gifts_.begin(), gifts_.end(), [slot](const gift& x) { return x.slot == slot; });
  }
  void wrap(gift& x) {
    x.memory = allocate_aligned<std::byte>(x.bytes);
    for (const fed& s : in_slots_)
      if (s.feed == x.slot) s.view->data = x.memory.get();
  }

  static std::int64_t aligned_bytes(const array_view& v) {
    if (v.type == dtype::none) return 0;
    return (v.size() * size_of(v.type) + slot_alignment - 1) / slot_alignment * slot_alignment;
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
    for (int k = 0; k < p.symbols.size() && name.empty(); ++k)
      if (binder.symbols[static_cast<std::size_t>(k)] < 0)
        throw feed_error(problem::extent_negative,
                         text_from({"\"", p.text(p.symbols[k]), "\" is negative with the extents of these feeds"}));
    throw feed_error(problem::extent_unknown, text_from({"\"", name, "\" is not bound by any feed of this step"}));
  }
  [[noreturn]] void no_room(const graph_view& g, const extent_check& c, std::int64_t whole, std::int64_t part) const {
    const bool least = c.whole < 0;
    const std::string_view name = executable_.plan().symbol_text(least ? c.whole : c.part);
    throw feed_error(c.otherwise, text_from({label_of(g, c.node), " (", line_text(g, c.node),
                                             "): ", g.nodes[c.node].op->name, " needs at ", least ? "least " : "most ",
                                             least ? part + c.least : whole - c.least, " where these feeds have \"",
                                             name, "\" = ", least ? whole : part, ": ", sentence(c.otherwise)}));
  }
  [[noreturn]] static void too_large() {
    throw feed_error(problem::too_many_elements, sentence(problem::too_many_elements));
  }

  const executable& executable_;
  const kernel_provider* provider_;
  const session_options& options_;
  list<std::int64_t> dims_;  // the plan's, as numbers
  list<array_view> operands_;
  list<array_view> fetches_;
  list<int> values_;  // fetches that have one
  list<bound_call> calls_;
  list<loop_context> contexts_;  // of the step, then of each loop
  list<loop_turn> turns_;        // of each loop
  value_stacks stacks_;
  list<fed> in_slots_;  // feed: the slot
  list<fed> fed_;
  list<gift> gifts_;
  // Of channels with both ends in the plan, and with one; null: there are none. Before the attempts that they make.
  std::unique_ptr<rendezvous> here_, elsewhere_;
  list<array_view> landings_;             // of each channel; no type: nothing lands
  list<arena> arenas_;                    // by device
  list<const flowgraph::operand*> sent_;  // of a slot that is shared: what was sent
  accesses of_call_, of_value_;
  list<variable_access> of_step_;
  list<owner<awaited>> awaited_;
  list<awaited*> awaited_of_;  // by instruction; empty: there are none
  walk how_ = walk::alone;
  bool bound_ = false;
  list<std::atomic<int>> waits_for_, left_in_;
  ready_ring ring_;
};
using workspace = basic_workspace<>;

}  // namespace flowgraph::detail
