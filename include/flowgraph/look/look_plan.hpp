// The plan that is looked at: what explaining and drawing it share.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/language/facts.hpp>
#include <flowgraph/passes/pipeline.hpp>
#include <flowgraph/plan/bind.hpp>
#include "look_options.hpp"

namespace flowgraph::detail {

// Throws name_error. log: as passes::no_log.
template <class Log>
plan_data plan_to_look_at(const graph_view& g, const look_options& options, const Log& log) {
  vec<int> feeds;
  for (const std::string_view name : options.feeds) feeds.push(find_or_throw(g, name));
  const vec<int> fetches = asked_nodes(g, {options.fetches.data(), static_cast<int>(options.fetches.size())});
  passes::options o = options.passes;
  o.allow_unfed = o.allow_unfed || options.feeds.empty();
  return passes::plan(g, {fetches, feeds}, {options.devices.data(), static_cast<int>(options.devices.size())}, o, log);
}

// Extents as numbers: those that were given, 1 for the others.
class extent_numbers {
 public:
  explicit extent_numbers(const std::vector<binding>& given) : given_(given) {}

  // text(k): of symbol k.
  template <class Text>
  std::vector<std::int64_t> operator()(int count, const Text& text) {
    std::vector<std::int64_t> all;
    for (int k = 0; k < count; ++k)
      all.push_back(evaluate_extent(text(k), [&](std::string_view name) {
        for (const binding& b : given_)
          if (b.name == name) return b.value;
        assumed_.emplace(name);
        return std::int64_t{1};
      }));
    return all;
  }
  std::vector<std::int64_t> of(const plan_view& p) {
    return (*this)(p.symbols.size(), [&](int k) { return p.text(p.symbols[k]); });
  }
  std::vector<std::int64_t> of(const graph_view& g) {
    return (*this)(g.symbol_entries.count, [&](int k) { return g.symbol_text(-1 - k); });
  }

  // batch = time = 1: what nobody gave; empty: everything was given.
  std::string assumed_text() const {
    std::string text;
    for (const std::string& name : assumed_) text += name + " = ";
    return text.empty() ? text : text + '1';
  }

 private:
  const std::vector<binding>& given_;
  std::set<std::string> assumed_;
};

inline std::int64_t bytes_of(dtype type, const extents& e, const std::vector<std::int64_t>& symbols) {
  std::int64_t n = type == dtype::none ? 0 : size_of(type);
  for (int i = 0; i < e.rank; ++i) n *= bound(e[i], symbols.data());
  return n;
}
inline std::int64_t bytes_of(const plan_view& p, const operand& o, const std::vector<std::int64_t>& symbols) {
  extents e;
  for (const extent n : p.dims_of(o.shape)) e.push(n);
  return bytes_of(o.type, e, symbols);
}

}  // namespace flowgraph::detail
