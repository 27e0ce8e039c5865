// Queues, mutexes and barriers by name. Sessions that are given the same fg::resources share them.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <flowgraph/core/list.hpp>
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
    list<std::int64_t> words;
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

}  // namespace flowgraph::detail
