// A growing array that costs the constant evaluator little: plain new[], no allocator, no iterators beyond
// pointers. std::vector made the same graph forty times slower to build at compile time.
#pragma once
#include <utility>

namespace flowgraph::detail {

// A borrowed run of elements.
template <class T>
struct slice {
  const T* data = nullptr;
  int count = 0;

  constexpr const T& operator[](int i) const { return data[i]; }
  constexpr int size() const { return count; }
  constexpr const T* begin() const { return data; }
  constexpr const T* end() const { return data + count; }
};

template <class T>
class vec {
 public:
  constexpr vec() = default;
  constexpr explicit vec(int n) : data_(new T[static_cast<unsigned>(n)]{}), size_(n), capacity_(n) {}
  constexpr vec(int n, const T& value) : data_(new T[static_cast<unsigned>(n)]), size_(n), capacity_(n) {
    for (int i = 0; i < n; ++i) data_[i] = value;
  }
  constexpr vec(const vec& other) : vec(static_cast<slice<T>>(other)) {}
  constexpr explicit vec(slice<T> s)
      : data_(new T[static_cast<unsigned>(s.count)]),
        size_(s.count),
        capacity_(s.count) {
    for (int i = 0; i < s.count; ++i) data_[i] = s.data[i];
  }
  constexpr vec(vec&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  constexpr vec& operator=(vec other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  constexpr ~vec() { delete[] data_; }

  // Returns the index of the new element.
  constexpr int push(const T& value) {
    if (size_ == capacity_) {
      const T copy = value;  // value may live in this vec
      reserve(capacity_ == 0 ? 64 : capacity_ * 2);
      data_[size_] = copy;
      return size_++;
    }
    data_[size_] = value;
    return size_++;
  }
  constexpr void pop() { --size_; }
  constexpr void clear() { size_ = 0; }
  constexpr void reserve(int n) {
    if (n <= capacity_) return;
    T* grown = new T[static_cast<unsigned>(n)];
    for (int i = 0; i < size_; ++i) grown[i] = data_[i];
    delete[] data_;
    data_ = grown;
    capacity_ = n;
  }

  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr operator slice<T>() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  int size_ = 0;
  int capacity_ = 0;
};

}  // namespace flowgraph::detail
