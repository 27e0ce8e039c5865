// Plans that outlive the graph they were made for: a graph of equal structure finds its plan here, with its kernels and
// the memory of its steps, instead of making one. Beside the variables, because sessions that share those share these;
// as many are kept as a session's options say, and the one that was used longest ago goes when one is met again that is
// not among them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <flowgraph/core/list.hpp>
#include "graph_structure.hpp"
#include "prepared_step.hpp"

namespace flowgraph::detail {

// What a plan and its workspaces follow from beside the graph.
struct plan_terms {
  const kernel_provider* provider;
  kernel_finder library;
  int threads;
  std::int64_t serial_below;
  inter_op_policy inter_op;
  update_policy updates;
  check_option::function check;
  passes::options passes;
  std::vector<std::string> devices;
  const flowgraph::resources* resources;
  const device_source* beside_cpus;

  bool operator==(const plan_terms&) const = default;
};

template <class Tag = void>
struct basic_shelved_plan {
  basic_shelved_plan(plan_terms t, const session_options& o, variable_table& table,
                     std::shared_ptr<flowgraph::resources> shared, resource_finder find)
      : terms(std::move(t)),
        options(o),
        variables(table, true),
        resources(std::move(shared), find) {
    // Nothing that belongs to the session that came first, nor what this lies in.
    options.pool = {};
    options.schedule = {};
    options.variables = nullptr;
    options.resources = nullptr;
  }

  // What it is found by. Of a plan that is not kept nobody asks.
  void remember(std::uint64_t h, const graph_view& g, slice<int> out, slice<int> in) {
    hash = h;
    graph.emplace(g);
    fetches.assign(out.begin(), out.end());
    feeds.assign(in.begin(), in.end());
  }
  bool is_for(const graph_view& g, slice<int> out, slice<int> in, const plan_terms& t) const {
    return same_nodes(fetches, out) && same_nodes(feeds, in) && terms == t && graph->is(g);
  }

  std::uint64_t hash = 0;
  std::optional<graph_structure> graph;
  list<int> fetches, feeds;
  plan_terms terms;
  session_options options;
  variable_store variables;
  resource_store resources;
  owner<planned_now> made;  // last: its workspaces point to what is above
};
using shelved_plan = basic_shelved_plan<>;

template <class Tag>
class basic_plan_shelf {
 public:
  // Null: there is none.
  std::shared_ptr<shelved_plan> find(std::uint64_t hash, const graph_view& g, slice<int> fetches, slice<int> feeds,
                                     const plan_terms& t) {
    std::shared_ptr<shelved_plan> candidates[4];
    int n = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto [first, last] = by_hash_.equal_range(hash);
      for (auto at = first; at != last && n < 4; ++at) {
        all_.splice(all_.begin(), all_, at->second);
        candidates[n++] = *at->second;
      }
    }
    for (int i = 0; i < n; ++i)
      if (candidates[i]->is_for(g, fetches, feeds, t)) return std::move(candidates[i]);
    return nullptr;
  }
  // Is a plan to be kept that was not found? As long as there is room for as many; then where its structure was asked
  // for before. So graphs that come once do not drive out those that come again, and leave warm memory to the next.
  bool wants(std::uint64_t hash, int keep) {
    if (keep < 1) return false;
    const std::lock_guard lock(mutex_);
    const auto most = static_cast<std::size_t>(keep);
    if (all_.size() < most) return true;
    if (asked_.size() < 4 * most) asked_.assign(4 * most, 0);
    return std::exchange(asked_[hash % asked_.size()], hash) == hash;
  }
  // keep: how many there are afterwards at most. What goes is destroyed when no step runs it any more.
  void add(const std::shared_ptr<shelved_plan>& p, int keep) {
    by_use gone;  // ends without the lock
    const std::lock_guard lock(mutex_);
    ++made_;
    all_.push_front(p);
    by_hash_.emplace(p->hash, all_.begin());
    while (all_.size() > static_cast<std::size_t>(std::max(keep, 0))) {
      const auto last = std::prev(all_.end());
      const auto [first, end] = by_hash_.equal_range((*last)->hash);
      for (auto at = first; at != end; ++at)
        if (at->second == last) {
          by_hash_.erase(at);
          break;
        }
      gone.splice(gone.begin(), all_, last);
    }
  }
  // How many there are, and how many were added since it began.
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  std::size_t made() {
    const std::lock_guard lock(mutex_);
    return made_;
  }

 private:
  using by_use = std::list<std::shared_ptr<shelved_plan>>;

  std::mutex mutex_;
  std::size_t made_ = 0;
  list<std::uint64_t> asked_;  // fingerprints that were asked for in vain, each where it falls
  by_use all_;                 // the one that was used last first
  std::unordered_multimap<std::uint64_t, typename by_use::iterator> by_hash_;
};
using plan_shelf = basic_plan_shelf<>;

}  // namespace flowgraph::detail
