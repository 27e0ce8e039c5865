// Where a step goes on behind each instruction: most go on with the next one, control flow does not. Loops and choices
// within which something may wait for another step are open: their instructions run as they become ready, like those of
// the step itself. All others are closed, and one thread runs them in order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <flowgraph/core/list.hpp>
#include <flowgraph/kernels/kernel_use.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph::detail {

struct flow {
  enum class kind : std::uint8_t {
    onward,  // the next instruction
    begin,   // a loop begins: the next instruction
    choose,  // one of several regions
    test,    // a loop's body, which comes next, or its end
    again,   // a loop's condition
    join     // the end of all branches
  };
  kind is = kind::onward;
  int to = 0;     // instruction
  int owner = 0;  // instruction
  int loop = 0;   // that begins, or goes on
  std::int64_t most_turns = -1;
};

// A resource of the session does it, or another device has a part in it.
constexpr bool may_wait(const instruction& x) { return x.op->is(trait::waits) || carries(x); }

// Of a plan.
template <class Tag = void>
class basic_flow_table {
 public:
  // works_alone: of each device, whether what it is given is done later; empty: none does so.
  explicit basic_flow_table(const plan_view& p, const list<bool>& works_alone = {})
      : plan_(p),
        regions_(static_cast<std::size_t>(p.regions.size())) {
    for (const plan_region& r : p.regions) any_ = any_ || r.owner >= 0;
    for (const instruction& x : p.instructions) waits_ = waits_ || detail::may_wait(x);
    find_device_work(works_alone);
    if (any_) {
      flows_.resize(static_cast<std::size_t>(p.instructions.size()));
      loops_.resize(flows_.size());
      // A region around others has a lower number: what an inner one says of its instructions stays.
      for (int r = 1; r < p.regions.size(); ++r)
        if (p.regions[r].owner >= 0) describe(r);
    }
    find_open();
  }

  // Does it have loops or choices?
  bool any() const { return any_; }
  // Is there anything in the plan that may have to wait for another step, or another device?
  bool waits() const { return waits_; }
  // Of an instruction: a resource, another device or its own device has a part in it.
  bool may_wait(int i) const { return detail::may_wait(plan_.instructions[i]) || is_device_work(i); }
  // Its own device does it, and says when it is done.
  bool is_device_work(int i) const { return !device_work_.empty() && device_work_[static_cast<std::size_t>(i)]; }
  const flow& operator[](int i) const { return flows_[static_cast<std::size_t>(i)]; }
  // The loop around an instruction, from 1 on; 0: none.
  int loop_around(int i) const { return any_ ? loops_[static_cast<std::size_t>(i)] : 0; }
  int loops() const { return count_; }
  int entry_of(int owner) const { return plan_.regions[plan_.instructions[owner].first_region].entry; }

  // Of the step itself (0) and of open regions: the instructions that run as they become ready, without the one that
  // ends the region.
  bool is_open(int owner) const { return waits_ && regions_[first_region(owner)].open; }
  const list<int>& members(int r) const { return regions_[static_cast<std::size_t>(r)].members; }
  int last_of(int r) const { return plan_.regions[r].first + plan_.regions[r].count - 1; }

  // The region that a choice leads to, by the value that it reads.
  int chosen(int i, const array_view& choice) const {
    const instruction& owner = plan_.instructions[(*this)[i].owner];
    std::int64_t k = 0;
    if (choice.type == dtype::boolean)
      k = *choice.as<const bool>() ? 0 : 1;
    else
      k = choice.type == dtype::int32 ? *choice.as<const std::int32_t>() : *choice.as<const std::int64_t>();
    return owner.first_region + (k >= 0 && k < owner.n_regions ? static_cast<int>(k) : owner.n_regions - 1);
  }

 private:
  void describe(int r) {
    const plan_region& x = plan_.regions[r];
    const instruction& owner = plan_.instructions[x.owner];
    const bool loop = owner.op->id == ops::exit::id;
    flow &entry = at(x.entry), &end = at(x.first + x.count - 1);
    entry.owner = end.owner = x.owner;
    entry.is = loop ? flow::kind::begin : flow::kind::choose;
    if (r == owner.first_region) count_ += loop;
    if (loop) entry.loop = end.loop = count_;
    for (int i = x.first; loop && i < x.first + x.count; ++i) loops_[static_cast<std::size_t>(i)] = count_;
    if (!loop) {
      end.is = flow::kind::join;
      end.to = x.owner;
    } else if (r == owner.first_region) {
      end.is = flow::kind::test;
      end.to = x.owner;
      end.most_turns = attrs_from_words<ops::while_loop::attrs>(plan_.words.data + owner.attrs).most_turns;
    } else {
      end.is = flow::kind::again;
      end.to = plan_.regions[owner.first_region].first;
    }
  }
  flow& at(int i) { return flows_[static_cast<std::size_t>(i)]; }
  std::size_t first_region(int owner) const { return static_cast<std::size_t>(plan_.instructions[owner].first_region); }

  // What ends a region, and loops and choices themselves, are done by who walks: all else of theirs is done by then.
  void find_device_work(const list<bool>& works_alone) {
    if (std::find(works_alone.begin(), works_alone.end(), true) == works_alone.end()) return;
    device_work_.resize(static_cast<std::size_t>(plan_.instructions.size()));
    for (int i = 0; i < plan_.instructions.size(); ++i) {
      const instruction& x = plan_.instructions[i];
      device_work_[static_cast<std::size_t>(i)] = works_alone[static_cast<std::size_t>(x.device)] &&
                                                  !detail::may_wait(x) && x.n_regions == 0 &&
                                                  (x.region == 0 || i != last_of(x.region));
      waits_ = waits_ || device_work_[static_cast<std::size_t>(i)];
    }
  }

  // Whatever is around something that waits is open, all regions of an owner alike.
  void find_open() {
    regions_[0].open = true;
    for (int i = 0; i < plan_.instructions.size(); ++i)
      for (int r = may_wait(i) ? plan_.instructions[i].region : 0; r > 0;
           r = plan_.instructions[plan_.regions[r].owner].region) {
        const instruction& owner = plan_.instructions[plan_.regions[r].owner];
        for (int k = owner.first_region; k < owner.first_region + owner.n_regions; ++k)
          regions_[static_cast<std::size_t>(k)].open = true;
      }
    for (int i = 0; i < plan_.instructions.size(); ++i) {
      region_state& r = regions_[static_cast<std::size_t>(plan_.instructions[i].region)];
      if (r.open && (&r == regions_.data() || i != last_of(plan_.instructions[i].region))) r.members.push_back(i);
    }
  }

  struct region_state {
    bool open = false;
    list<int> members;
  };

  plan_view plan_;
  bool any_ = false, waits_ = false;
  list<bool> device_work_;  // of each instruction; empty: none is
  int count_ = 0;
  list<flow> flows_;
  list<int> loops_;  // of each instruction
  list<region_state> regions_;
};
using flow_table = basic_flow_table<>;

// How far a loop has come, and where the loops around it are.
struct loop_turn {
  std::int64_t turns = 0;
  std::uint64_t around = 0;
};

}  // namespace flowgraph::detail
