// A list whose links are in its members (`T* next`): nothing is allocated when one joins or leaves. It owns nobody.
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
    (first_ == nullptr ? first_ : last_->next) = x;
    last_ = x;
    ++size_;
  }
  void push_front(T* x) {
    if (first_ == nullptr) return push_back(x);
    x->next = first_;
    first_ = x;
    ++size_;
  }
  // Not of an empty one.
  T* pop_front() {
    T* x = first_;
    first_ = x->next;
    --size_;
    return x;
  }
  // False: it is not among them.
  bool remove(T* x) {
    T* before = nullptr;
    for (T* y = first_; y != nullptr; before = y, y = y->next) {
      if (y != x) continue;
      (before == nullptr ? first_ : before->next) = x->next;
      if (last_ == x) last_ = before;
      --size_;
      return true;
    }
    return false;
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
