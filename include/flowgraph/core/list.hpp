// What the engine keeps while a program runs: runs of elements, and single objects, each with one owner. std::vector
// and std::unique_ptr with what the engine asks of them, and no more: a file that holds the engine itself instantiates
// them for some sixty types, at eight functions for each member called, and compilers spent a fifth of such a file
// there. What is built by the compiler is a vec, see vec.hpp.
#pragma once
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

// Not worth a function each where nothing is optimised, neither to the compiler nor to who waits for the program.
#define FLOWGRAPH_IN_PLACE [[gnu::always_inline]]

namespace flowgraph::detail {

template <class T>
class list {
 public:
  using value_type = T;

  list() = default;
  // n elements, value-initialised; they may be ones that cannot be moved.
  explicit list(std::size_t n) : list() {
    data_ = room_for(n);
    room_ = n;
    while (size_ < n) make();
  }
  list(std::size_t n, const T& value) : list() { assign(n, value); }
  list(const T* first, const T* last) : list() { append(first, last); }
  list(std::initializer_list<T> all) : list(all.begin(), all.end()) {}
  list(const list& o) : list(o.begin(), o.end()) {}
  list(list&& o) noexcept : data_(o.data_), size_(o.size_), room_(o.room_) {
    o.data_ = nullptr;
    o.size_ = o.room_ = 0;
  }
  list& operator=(list o) noexcept {
    swap(o);
    return *this;
  }
  ~list() {
    clear();
    give_back(data_);
  }
  void swap(list& o) noexcept {
    T* const data = data_;
    const std::size_t size = size_, room = room_;
    data_ = o.data_;
    size_ = o.size_;
    room_ = o.room_;
    o.data_ = data;
    o.size_ = size;
    o.room_ = room;
  }

  FLOWGRAPH_IN_PLACE bool empty() const { return size_ == 0; }
  FLOWGRAPH_IN_PLACE std::size_t size() const { return size_; }
  FLOWGRAPH_IN_PLACE std::size_t capacity() const { return room_; }
  FLOWGRAPH_IN_PLACE T* data() { return data_; }
  FLOWGRAPH_IN_PLACE const T* data() const { return data_; }
  FLOWGRAPH_IN_PLACE T* begin() { return data_; }
  FLOWGRAPH_IN_PLACE T* end() { return data_ + size_; }
  FLOWGRAPH_IN_PLACE const T* begin() const { return data_; }
  FLOWGRAPH_IN_PLACE const T* end() const { return data_ + size_; }
  FLOWGRAPH_IN_PLACE T& operator[](std::size_t i) { return data_[i]; }
  FLOWGRAPH_IN_PLACE const T& operator[](std::size_t i) const { return data_[i]; }
  FLOWGRAPH_IN_PLACE T& front() { return data_[0]; }
  FLOWGRAPH_IN_PLACE const T& front() const { return data_[0]; }
  FLOWGRAPH_IN_PLACE T& back() { return data_[size_ - 1]; }
  FLOWGRAPH_IN_PLACE const T& back() const { return data_[size_ - 1]; }

  void reserve(std::size_t n) {
    if (n > room_) move_to(n);
  }
  // The element is made before the others move: it may be made of one of them.
  template <class... A>
  T& emplace_back(A&&... a) {
    if (size_ < room_) return make(std::forward<A>(a)...);
    T made(std::forward<A>(a)...);
    move_to(size_ < 4 ? 4 : 2 * size_);
    return make(static_cast<T&&>(made));
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(static_cast<T&&>(value)); }
  // Of elements that lie elsewhere.
  void append(const T* first, const T* last) {
    const std::size_t n = static_cast<std::size_t>(last - first);
    if (n > room_ - size_) move_to(size_ + n > 2 * size_ ? size_ + n : 2 * size_);
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (n > 0) std::memcpy(data_ + size_, first, n * sizeof(T));
      size_ += n;
    } else {
      for (; first != last; ++first) make(*first);
    }
  }
  // Before the element with this index.
  void insert(std::size_t i, const T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    emplace_back(value);
    std::memmove(data_ + i + 1, data_ + i, (size_ - 1 - i) * sizeof(T));
    data_[i] = value;
  }
  void resize(std::size_t n) {
    shrink(n);
    reserve(n);
    while (size_ < n) make();
  }
  // What lies elsewhere, in place of what is here.
  void assign(const T* first, const T* last) {
    clear();
    append(first, last);
  }
  void assign(std::size_t n, const T& value) {
    clear();
    reserve(n);
    while (size_ < n) make(value);
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() { shrink(0); }

 private:
  template <class... A>
  T& make(A&&... a) {
    T* const made = ::new (static_cast<void*>(data_ + size_)) T(std::forward<A>(a)...);
    ++size_;
    return *made;
  }
  void shrink(std::size_t n) {
    if constexpr (std::is_trivially_destructible_v<T>)
      size_ = n < size_ ? n : size_;
    else
      while (size_ > n) data_[--size_].~T();
  }
  void move_to(std::size_t room) {
    T* const to = room_for(room);
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (size_ > 0) std::memcpy(to, data_, size_ * sizeof(T));
    } else {
      for (std::size_t i = 0; i < size_; ++i) {
        ::new (static_cast<void*>(to + i)) T(static_cast<T&&>(data_[i]));
        data_[i].~T();
      }
    }
    give_back(data_);
    data_ = to;
    room_ = room;
  }
  static T* room_for(std::size_t n) {
    if (n == 0) return nullptr;
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{alignof(T)}));
  }
  static void give_back(void* data) { ::operator delete(data, std::align_val_t{alignof(T)}); }

  T* data_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

// One object. Of a base of what it was made as, if the base has a virtual destructor.
template <class T>
class owner {
 public:
  owner() = default;
  owner(std::nullptr_t) {}
  explicit owner(T* made) : made_(made) {}
  owner(owner&& o) noexcept : made_(o.release()) {}
  template <class U>
    requires requires(U* u, T*& t) { t = u; }
  owner(owner<U>&& o) noexcept : made_(o.release()) {}
  owner& operator=(owner o) noexcept {
    T* const mine = made_;
    made_ = o.made_;
    o.made_ = mine;
    return *this;
  }
  ~owner() { delete made_; }

  FLOWGRAPH_IN_PLACE T* get() const { return made_; }
  FLOWGRAPH_IN_PLACE T& operator*() const { return *made_; }
  FLOWGRAPH_IN_PLACE T* operator->() const { return made_; }
  FLOWGRAPH_IN_PLACE explicit operator bool() const { return made_ != nullptr; }
  FLOWGRAPH_IN_PLACE bool operator==(std::nullptr_t) const { return made_ == nullptr; }
  T* release() {
    T* const made = made_;
    made_ = nullptr;
    return made;
  }

 private:
  T* made_ = nullptr;
};

template <class T, class... A>
owner<T> make_owner(A&&... a) {
  return owner<T>(new T(std::forward<A>(a)...));
}

}  // namespace flowgraph::detail

#undef FLOWGRAPH_IN_PLACE
