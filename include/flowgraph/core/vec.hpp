// A growing array that costs the constant evaluator little: plain new[], no allocator, no iterators beyond
// pointers. std::vector made the same graph forty times slower to build at compile time. Compilers count and pay
// for every statement and call, so that members are public for loops that run once per node, and push is one
// expression.
#pragma once

namespace flowgraph::detail {

// n elements to where others are. clang counts the builtin as a part of its statement, however many there are; g++ has
// no such function in constant expressions.
template <class T>
constexpr void copy_elements(T* to, const T* from, int n) {
#ifdef __clang__
  if constexpr (__is_trivially_copyable(T)) {
    if (n > 0) __builtin_memcpy(to, from, static_cast<unsigned long>(n) * sizeof(T));
    return;
  }
#endif
  for (int i = 0; i < n; ++i) to[i] = from[i];
}

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
constexpr void copy_rows(T* to, slice<T> from) {
  copy_elements(to, from.data, from.count);
}

template <class T>
struct vec {
  T* data = nullptr;
  int count = 0;
  int capacity = 0;

  constexpr vec() = default;
  // n elements, value-initialised.
  constexpr explicit vec(int n) : data(new T[static_cast<unsigned>(n)]{}), count(n), capacity(n) {}
  constexpr vec(int n, const T& value) : data(new T[static_cast<unsigned>(n)]), count(n), capacity(n) {
    for (int i = 0; i < n; ++i) data[i] = value;
  }
  constexpr vec(const vec& other) : vec(static_cast<slice<T>>(other)) {}
  constexpr explicit vec(slice<T> s) : data(new T[static_cast<unsigned>(s.count)]), count(s.count), capacity(s.count) {
    copy_elements(data, s.data, s.count);
  }
  constexpr vec(vec&& other) noexcept : data(other.data), count(other.count), capacity(other.capacity) {
    other.data = nullptr;
    other.count = other.capacity = 0;
  }
  constexpr vec& operator=(const vec& other) {
    if (this != &other) *this = vec(other);
    return *this;
  }
  constexpr vec& operator=(vec&& other) noexcept {
    T* const mine = data;
    data = other.data;
    count = other.count;
    capacity = other.capacity;
    other.data = nullptr;
    other.count = other.capacity = 0;
    delete[] mine;
    return *this;
  }
  constexpr ~vec() { delete[] data; }

  // Returns the index of the new element.
  constexpr int push(const T& value) { return count < capacity ? (data[count] = value, count++) : push_growing(value); }
  // Appends n elements that lie outside this vec; returns the index of the first. Most nodes have one operand or two,
  // and a statement less for each of them is a tenth of all that building a graph takes.
  constexpr int append(const T* values, int n) {
    return count + n > capacity || n > 2 ? append_several(values, n)
           : n == 2                      ? (data[count] = values[0], data[count + 1] = values[1], (count += 2) - 2)
           : n == 1                      ? (data[count] = *values, count++)
                                         : count;
  }
  // Appends n elements of this vec, from this index on.
  constexpr int append_own(int from, int n) {
    make_room(n);
    copy_elements(data + count, data + from, n);
    return (count += n) - n;
  }
  constexpr void pop() { --count; }
  constexpr void clear() { count = 0; }
  constexpr void reserve(int n) {
    if (n <= capacity) return;
    T* grown = new T[static_cast<unsigned>(n)];
    copy_elements(grown, data, count);
    delete[] data;
    data = grown;
    capacity = n;
  }

  constexpr T& operator[](int i) { return data[i]; }
  constexpr const T& operator[](int i) const { return data[i]; }
  constexpr T& back() { return data[count - 1]; }
  constexpr const T& back() const { return data[count - 1]; }
  constexpr int size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T* begin() { return data; }
  constexpr T* end() { return data + count; }
  constexpr const T* begin() const { return data; }
  constexpr const T* end() const { return data + count; }
  constexpr operator slice<T>() const { return {data, count}; }

 private:
  constexpr void make_room(int n) {
    if (count + n > capacity) reserve(count + n > 2 * capacity ? count + n + 64 : 2 * capacity);
  }
  constexpr int append_several(const T* values, int n) {
    make_room(n);
    copy_elements(data + count, values, n);
    return (count += n) - n;
  }
  constexpr int push_growing(const T& value) {
    const T copy = value;  // value may live in this vec
    reserve(capacity == 0 ? 64 : capacity * 2);
    data[count] = copy;
    return count++;
  }
};

}  // namespace flowgraph::detail
