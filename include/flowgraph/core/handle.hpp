// What the other half of the library made, and is given back to it: a pointer with an owner, to a type that only that
// half knows. Apart from std::unique_ptr, whose header few of the files that include this one need.
#pragma once

namespace flowgraph::detail {

// give_back(T*), beside T, ends it.
template <class T>
class handle {
 public:
  handle() = default;
  explicit handle(T* made) : made_(made) {}
  handle(handle&& o) noexcept : made_(o.made_) { o.made_ = nullptr; }
  handle& operator=(handle&& o) noexcept {
    T* const old = made_;
    made_ = o.made_;
    o.made_ = nullptr;
    if (old != nullptr && old != made_) give_back(old);
    return *this;
  }
  ~handle() {
    if (made_ != nullptr) give_back(made_);
  }

  T& operator*() const { return *made_; }
  T* operator->() const { return made_; }
  T* get() const { return made_; }
  explicit operator bool() const { return made_ != nullptr; }

 private:
  T* made_ = nullptr;
};

}  // namespace flowgraph::detail
