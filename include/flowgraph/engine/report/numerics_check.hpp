// Finds the instruction that made the first NaN or infinity: session_options::check_numerics.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/core/error.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/engine/step/row_views.hpp>
#include <flowgraph/engine/text.hpp>
#include <flowgraph/ops/control.hpp>
#include <flowgraph/plan/plan.hpp>
#include <flowgraph/session/reports.hpp>
#include "replay_steps.hpp"
#include "value_range.hpp"

namespace flowgraph::detail {

// Made before an instruction runs, asked when it has run. What it reads may be overwritten by what it gives, and is
// then copied before.
template <class Tag = void>
class basic_numerics_check {
 public:
  // views: of the plan's operands.
  basic_numerics_check(const plan_view& p, const instruction& x, const array_view* views)
      : plan_(p),
        instruction_(x),
        views_(views + x.operands),
        in_(views + x.operands, views + x.operands + x.n_operands),
        out_(views + x.operands + x.n_operands, views + x.operands + x.n_operands + x.n_outputs) {
    for (std::size_t k = 0; k < in_.size(); ++k)  // one number stands for all elements
      if (p.inputs(x)[static_cast<int>(k)].where == storage::constant) in_[k].rank = 0;
    if (x.op->is(trait::writes_operand) && !in_.empty()) out_.push_back(in_[0]);
    std::erase_if(out_, [](const array_view& v) { return !is_floating(v.type) || v.data == nullptr; });
    for (array_view& v : in_)
      for (const array_view& o : out_)
        if (v.data == o.data && v.data != nullptr) keep(v);
  }

  // Throws where a result is not finite.
  void results() const {
    for (const array_view& o : out_) {
      const value_range r(o);
      if (!r.is_finite()) refuse(o, r);
    }
  }

 private:
  void keep(array_view& v) {
    const auto bytes = static_cast<std::size_t>(v.size() * size_of(v.type));
    std::vector<std::byte>& copy = copies_.emplace_back(bytes);
    if (bytes > 0) std::memcpy(copy.data(), v.data, bytes);
    v.data = copy.data();
  }

  [[noreturn]] void refuse(const array_view& o, const value_range& r) const {
    std::string text =
        text_from({r.nans + r.infinities, " of ", r.count, " elements ", r.nans + r.infinities == 1 ? "is" : "are",
                   " not finite, the first at ", index_text(o, r.first), ": ", odd_number_text(r.first_value)});
    const std::string step = first_bad_step(plan_, instruction_, in_.data(), views_);
    if (!step.empty()) text += "\n  " + step;
    for (std::size_t k = 0; k < in_.size(); ++k) {
      const array_view& v = in_[k];
      if (v.data == nullptr) continue;  // computed on the way, never in memory
      text += text_from({"\n  operand ", k, ": ", type_text(v), ", ", value_range(v).text()});
      if (v.rank == o.rank && std::equal(v.dims, v.dims + v.rank, o.dims))
        with_type(v.type, [&]<class T>(T) {
          text += text_from({", ", six_digits(static_cast<double>(v.as<const T>()[r.first])), " there"});
        });
    }
    if (const array_view* empty = first_empty())
      text += text_from({"\n  the step was fed ", type_text(*empty), ": of no elements a mean is not a number"});
    throw execution_error(problem::not_finite, text);
  }
  // Of what the step is made of: the first that has no elements because of what was fed.
  const array_view* first_empty() const {
    const array_view* const all = views_ - instruction_.operands;
    for (int k = 0; k < plan_.operands.count; ++k)
      if (all[k].rank > 0 && all[k].size() == 0) return &all[k];
    return nullptr;
  }

  const plan_view& plan_;
  const instruction& instruction_;
  const array_view* views_;  // as they are in memory
  std::vector<array_view> in_, out_;
  std::vector<std::vector<std::byte>> copies_;
};
using numerics_check = basic_numerics_check<>;

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_LAZY_CODE void run_checked(const plan_view& p, const instruction& x, const array_view* views,
                                     const bound_call& call) {
  const numerics_check check(p, x, views);
  call();
  if (x.op->id == ops::unset::id) {  // nobody reads it yet, but for the check
    const array_view& y = call.args.out[0];
    if (y.size() > 0) std::memset(y.data, 0, static_cast<std::size_t>(y.size() * size_of(y.type)));
  }
  check.results();
}

}  // namespace FLOWGRAPH_HALF

}  // namespace flowgraph::detail
