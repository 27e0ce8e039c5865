// A list whose links are in its members (`T *next, *before`): nothing is allocated when one joins or leaves, and who
// leaves need not be looked for. It owns nobody.
#pragma once
#include <cstdint>

namespace flowgraph::detail {

template <class T>
class linked_list {
 public:
  linked_list() = default;
  linked_list(const linked_list&) = delete;
  linked_list& operator=(const linked_list&) = delete;

  bool empty() const { return first_ == nullptr; }
  std::int64_t size() const { return size_; }
  T* front() const { return first_; }
  void push_back(T* x) {
    x->next = nullptr;
    x->before = last_;
    (first_ == nullptr ? first_ : last_->next) = x;
    last_ = x;
    ++size_;
  }
  void push_front(T* x) {
    if (first_ == nullptr) return push_back(x);
    x->next = first_;
    x->before = nullptr;
    first_->before = x;
    first_ = x;
    ++size_;
  }
  // Not of an empty one.
  T* pop_front() {
    T* x = first_;
    remove(x);
    return x;
  }
  // Of one that is among them.
  void remove(T* x) {
    (x == first_ ? first_ : x->before->next) = x->next;
    (x == last_ ? last_ : x->next->before) = x->before;
    --size_;
  }
  // Up to n from the front of another one.
  void take(linked_list& from, std::int64_t n) {
    for (; n > 0 && !from.empty(); --n) push_back(from.pop_front());
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace flowgraph::detail
