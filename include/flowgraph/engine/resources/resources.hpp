// The queues, mutexes and barriers of a session, by name. Sessions that are given the same fg::resources share them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <flowgraph/session/resources.hpp>
#include "queue.hpp"
#include "synchronize.hpp"

namespace flowgraph::detail {

// What fg::resources has.
template <class Tag>
class basic_resource_table {
 public:
  // The one of this name. op, words: how it was declared; another declaration of the same name is a graph_error.
  std::shared_ptr<resource> find(std::string_view name, std::uint64_t op, slice<std::int64_t> words,
                                 std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    entry& e = all_.try_emplace(std::string(name)).first->second;
    if (e.what == nullptr) {
      e.op = op;
      e.words.assign(words.begin(), words.end());
      e.what = make(std::string(name), op, e.words.data(), seed);
    } else if (e.op != op || !std::equal(e.words.begin(), e.words.end(), words.begin(), words.end())) {
      throw graph_error(problem::resource_differs, {"\"", name, "\": ", sentence(problem::resource_differs)});
    }
    return e.what;
  }

 private:
  struct entry {
    std::uint64_t op = 0;
    std::vector<std::int64_t> words;
    std::shared_ptr<resource> what;
  };

  static std::shared_ptr<resource> make(std::string name, std::uint64_t op, const std::int64_t* words,
                                        std::uint64_t seed) {
    if (op == ops::queue::id) return std::make_shared<queue_resource>(std::move(name), words, seed);
    if (op == ops::mutex::id) return std::make_shared<mutex_resource>(std::move(name));
    return std::make_shared<barrier_resource>(words[0]);
  }

  std::mutex mutex_;
  std::map<std::string, entry> all_;
};

// Those that the graph of a session declares, by their node.
template <class Tag = void>
class basic_resource_store {
 public:
  explicit basic_resource_store(std::shared_ptr<resources> shared)
      : all_(shared != nullptr ? std::move(shared) : std::make_shared<resources>()) {}

  void add_new(const graph_view& g, std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    for (; seen_ < g.size(); ++seen_) {
      const std::uint64_t op = g.nodes[seen_].op->id;
      if (op == ops::queue::id || op == ops::mutex::id || op == ops::barrier::id)
        by_node_[seen_] = all_->table().find(g.name_of(seen_), op, g.attrs(seen_), seed);
    }
  }
  std::shared_ptr<resource> of_node(int node) {
    const std::lock_guard lock(mutex_);
    return by_node_.at(node);
  }
  // For an instruction with trait::waits of a step that is told apart from others by `step`.
  std::unique_ptr<attempt> make_attempt(const plan_view& p, const instruction& x, const void* step) {
    const std::int64_t* words = p.attrs(x).data;
    const bool declares = x.op->id == ops::queue::id || x.op->id == ops::mutex::id || x.op->id == ops::barrier::id;
    return of_node(declares ? x.node : static_cast<int>(words[0]))->make_attempt(x.op->id, words, step);
  }

 private:
  std::shared_ptr<resources> all_;
  std::mutex mutex_;
  int seen_ = 0;
  std::unordered_map<int, std::shared_ptr<resource>> by_node_;
};
using resource_store = basic_resource_store<>;

}  // namespace flowgraph::detail
