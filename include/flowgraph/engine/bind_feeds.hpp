// Feeds give named extents their numbers. A feed with a shape binds every name in it; a flat run of values binds one
// unknown name by division. What two feeds say of one name must agree.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <flowgraph/core/list.hpp>
#include <flowgraph/plan/bind.hpp>
#include <flowgraph/session/feed.hpp>
#include "executable.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_feed_binder {
 public:
  // feeds: in the plan's order. Throws feed_error.
  basic_feed_binder(const executable& e, const graph_view& g, const borrowed* const* feeds)
      : plan_(e.plan()),
        graph_(g),
        feeds_(feeds),
        names_(e.names()),
        numbers_(names_.size(), -1),
        bound_by_(names_.size(), -1) {
    const int n = plan_.feeds.size();
    list<bool> done(static_cast<std::size_t>(n));
    for (int f = 0; f < n; ++f) check_type(f);
    // What one feed binds may be what another one needs.
    for (bool progress = true; progress;) {
      progress = false;
      for (int f = 0; f < n; ++f)
        if (!done[static_cast<std::size_t>(f)] && (feeds_[f]->flat ? bind_flat(f) : bind_shaped(f)))
          progress = done[static_cast<std::size_t>(f)] = true;
    }
    for (int f = 0; f < n; ++f)
      if (!done[static_cast<std::size_t>(f)]) refuse(f, "; more than one extent is unknown: feed an fg::ndarray");
    for (int k = 0; k < plan_.symbols.size(); ++k) symbols.push_back(value_of(-1 - k));
  }

  // The number of every symbol of the plan; -1: a name in it is not bound.
  list<std::int64_t> symbols;

  // The first name in a symbol's text that has no number.
  std::string unbound_name(int symbol) const {
    std::string found;
    evaluate_extent(plan_.text(plan_.symbols[symbol]), [&](std::string_view name) {
      const std::int64_t n = numbers_[index_of(name)];
      if (n < 0 && found.empty()) found = name;
      return n;
    });
    return found;
  }

 private:
  slice<extent> dims_of(int f) const { return plan_.dims_of(plan_.feeds[f].shape); }

  [[noreturn]] void refuse(int f, std::string_view more = "") const {
    const borrowed& b = *feeds_[f];
    const std::string given = b.flat ? text_from({b.count, " values"}) : type_text(b.type, b.rank, b.dims);
    throw feed_error(problem::feed_extents, text_from({"feed ", feed_name(f), ": expected ",
                                                       type_text(graph_, plan_.feeds[f].node), ", got ", given, more}));
  }
  std::string feed_name(int f) const {
    return text_from({label_of(graph_, plan_.feeds[f].node), " (", line_text(graph_, plan_.feeds[f].node), ")"});
  }

  void check_type(int f) const {
    if (feeds_[f]->type == plan_.feeds[f].type) return;
    throw feed_error(problem::feed_dtype,
                     text_from({"feed ", feed_name(f), ": expected ", type_text(graph_, plan_.feeds[f].node), ", got ",
                                name_of(feeds_[f]->type), " values"}));
  }

  std::size_t index_of(std::string_view name) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }
  std::int64_t value_of(extent e) const {
    if (e >= 0) return e;
    return evaluate_extent(plan_.symbol_text(e), [&](std::string_view name) { return numbers_[index_of(name)]; });
  }

  // The name whose number follows from an extent's, where only that one is unknown and stands alone or linearly:
  // 2*batch+1. -1: none.
  int solve(extent e, std::int64_t value, std::int64_t& number) const {
    const std::string_view text = plan_.symbol_text(e);
    int unknown = -1, count = 0;
    evaluate_extent(text, [&](std::string_view name) -> std::int64_t {
      const std::size_t i = index_of(name);
      if (numbers_[i] >= 0) return numbers_[i];
      if (static_cast<int>(i) != unknown) ++count;
      unknown = static_cast<int>(i);
      return 0;
    });
    if (count != 1) return -1;
    const auto at = [&](std::int64_t n) {
      return evaluate_extent(text, [&](std::string_view name) {
        const std::size_t i = index_of(name);
        return static_cast<int>(i) == unknown ? n : numbers_[i];
      });
    };
    constexpr std::int64_t base = 1 << 20;  // far from where time-1 would be negative
    const std::int64_t first = at(base), slope = at(base + 1) - first;
    if (slope == 0 || at(base + 2) != first + 2 * slope) return -1;
    number = base + (value - first) / slope;
    return number >= 0 && at(number) == value ? unknown : -1;
  }

  // Extent e is `value` in feed f: binds the name in it, or checks it. False: it can't be known yet.
  bool say(extent e, std::int64_t value, int f) {
    const std::int64_t known = value_of(e);
    if (known >= 0) {
      if (known != value) conflict(e, known, value, f);
      return true;
    }
    std::int64_t number = -1;
    const int name = solve(e, value, number);
    if (name < 0) return false;
    numbers_[static_cast<std::size_t>(name)] = number;
    bound_by_[static_cast<std::size_t>(name)] = f;
    return true;
  }

  [[noreturn]] void conflict(extent e, std::int64_t known, std::int64_t value, int f) const {
    const std::string_view text = plan_.symbol_text(e);
    int other = -1;
    evaluate_extent(text, [&](std::string_view name) {
      const std::size_t i = index_of(name);
      if (other < 0) other = bound_by_[i];
      return numbers_[i];
    });
    if (other < 0 || other == f) refuse(f);
    throw feed_error(problem::extent_conflict, text_from({"\"", text, "\" is ", known, " in feed ", feed_name(other),
                                                          " and ", value, " in feed ", feed_name(f)}));
  }

  bool bind_shaped(int f) {
    const slice<extent> dims = dims_of(f);
    const borrowed& b = *feeds_[f];
    if (b.rank != dims.count) refuse(f);
    for (int i = 0; i < b.rank; ++i)
      if (dims[i] >= 0 && dims[i] != b.dims[i]) refuse(f);
    bool all = true;
    for (int i = 0; i < b.rank; ++i)
      if (dims[i] < 0) all = say(dims[i], b.dims[i], f) && all;
    return all;
  }

  bool bind_flat(int f) {
    const slice<extent> dims = dims_of(f);
    const std::int64_t count = feeds_[f]->count;
    std::int64_t known = 1, numbers = 1;
    extent unknown = 0, named = 0;
    int unknowns = 0, nameds = 0;
    for (const extent e : dims) {
      const std::int64_t n = value_of(e);
      if (e < 0) {
        named = e;
        ++nameds;
      } else {
        numbers *= e;
      }
      if (n >= 0) {
        known *= n;
      } else {
        unknown = e;
        ++unknowns;
      }
    }
    if (unknowns == 0) {
      if (known == count) return true;
      // One name says it more clearly than a count of values does.
      if (nameds == 1 && numbers > 0 && count % numbers == 0) say(named, count / numbers, f);
      refuse(f);
    }
    if (unknowns > 1) return false;
    if (known == 0 || count % known != 0) refuse(f);
    return say(unknown, count / known, f);
  }

  plan_view plan_;
  graph_view graph_;
  const borrowed* const* feeds_;
  const list<std::string_view>& names_;
  list<std::int64_t> numbers_;  // of each name; -1: not known
  list<int> bound_by_;          // of each name: the feed that said it
};
using feed_binder = basic_feed_binder<>;

}  // namespace flowgraph::detail
