// The stacks of one step (ops/stack.hpp): memory that grows with the turns of a loop and stays for the next step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>

#include <flowgraph/core/list.hpp>

namespace flowgraph {

// Any number of loops may run at once, each with stacks of its own.
class value_stacks {
 public:
  // Gives the number of the stack, which is another one where the old one was 0.
  std::uint64_t push(std::uint64_t number, const void* value, std::size_t bytes) {
    if (number == 0) number = make();
    stack& s = at(number);
    const auto* const from = static_cast<const std::byte*>(value);
    s.values.append(from, from + bytes);
    ++s.depth;
    return number;
  }
  // One that is empty then becomes 0: its memory is for the next one that is made.
  std::uint64_t pop(std::uint64_t number, void* value, std::size_t bytes) {
    if (number == 0) {
      if (bytes > 0) std::memset(value, 0, bytes);
      return 0;
    }
    stack& s = at(number);
    const std::size_t size = s.values.size() - bytes;
    if (bytes > 0) std::memcpy(value, s.values.data() + size, bytes);
    s.values.resize(size);
    if (--s.depth > 0) return number;
    const std::lock_guard lock(mutex_);
    free_.push_back(number);
    return 0;
  }
  // All are empty again: what a step left behind that failed, or that wanted no derivatives.
  void clear() {
    if (free_.size() == all_.size()) return;
    free_.clear();
    for (std::size_t i = all_.size(); i > 0; --i) {
      all_[i - 1].values.clear();
      all_[i - 1].depth = 0;
      free_.push_back(i);
    }
  }

 private:
  struct stack {
    detail::list<std::byte> values;
    std::int64_t depth = 0;
  };

  std::uint64_t make() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.emplace_back();
      return all_.size();
    }
    const std::uint64_t number = free_.back();
    free_.pop_back();
    return number;
  }
  stack& at(std::uint64_t number) {
    const std::lock_guard lock(mutex_);  // the list may grow meanwhile; what is in it does not move
    return all_[static_cast<std::size_t>(number - 1)];
  }

  std::mutex mutex_;
  std::deque<stack> all_;
  detail::list<std::uint64_t> free_;
};

}  // namespace flowgraph
