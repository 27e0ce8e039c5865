// Where a step goes on behind each instruction: most go on with the next one, control flow does not.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

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
    join,    // the end of all branches
    wait     // the next instruction, when a resource has done this one
  };
  kind is = kind::onward;
  int to = 0;     // instruction
  int owner = 0;  // instruction
  std::int64_t most_turns = -1;
};

// Of a plan. Loops and choices of the step itself run as units: each by one thread, in order.
template <class Tag = void>
class basic_flow_table {
 public:
  explicit basic_flow_table(const plan_view& p) : plan_(p) {
    const auto n = static_cast<std::size_t>(p.instructions.size());
    for (const plan_region& r : p.regions) any_ = any_ || r.owner >= 0;
    if (!any_) return;
    flows_.resize(n);
    units_.resize(n);
    for (int r = 1; r < p.regions.size(); ++r)
      if (p.regions[r].owner >= 0) describe(r);
    for (int i = 0; i < p.instructions.size(); ++i)
      if (p.instructions[i].op->is(trait::waits)) at(i).is = flow::kind::wait;
    for (int i = 0; i < p.instructions.size(); ++i)
      if (p.instructions[i].n_regions > 0 && p.instructions[i].region == 0) {
        ++count_;
        for (int k = entry_of(i); k <= i; ++k) units_[static_cast<std::size_t>(k)] = count_;
      }
  }

  bool any() const { return any_; }
  const flow& operator[](int i) const { return flows_[static_cast<std::size_t>(i)]; }
  // The unit of an instruction, from 1 on; 0: none.
  int unit_of(int i) const { return any_ ? units_[static_cast<std::size_t>(i)] : 0; }
  int units() const { return count_; }
  int entry_of(int owner) const { return plan_.regions[plan_.instructions[owner].first_region].entry; }

  // Where a choice leads, by the value that it reads.
  int chosen(int i, const array_view& choice) const {
    const instruction& owner = plan_.instructions[(*this)[i].owner];
    std::int64_t k = 0;
    if (choice.type == dtype::boolean)
      k = *choice.as<const bool>() ? 0 : 1;
    else
      k = choice.type == dtype::int32 ? *choice.as<const std::int32_t>() : *choice.as<const std::int64_t>();
    const int branch = k >= 0 && k < owner.n_regions ? static_cast<int>(k) : owner.n_regions - 1;
    return plan_.regions[owner.first_region + branch].first;
  }

 private:
  void describe(int r) {
    const plan_region& x = plan_.regions[r];
    const instruction& owner = plan_.instructions[x.owner];
    const bool loop = owner.op->id == ops::exit::id;
    flow &entry = at(x.entry), &end = at(x.first + x.count - 1);
    entry.owner = end.owner = x.owner;
    entry.is = loop ? flow::kind::begin : flow::kind::choose;
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

  plan_view plan_;
  bool any_ = false;
  int count_ = 0;
  std::vector<flow> flows_;
  std::vector<int> units_;
};
using flow_table = basic_flow_table<>;

// How far a loop has come, and where the loops around it are.
struct loop_turn {
  std::int64_t turns = 0;
  std::uint64_t around = 0;
};

}  // namespace flowgraph::detail
