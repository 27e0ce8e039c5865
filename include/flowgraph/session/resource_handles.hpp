// Queues, mutexes and barriers of a session from C++: s.queue<"examples">().enqueue(image, label). They wait on the
// calling thread, and take the same limits as a step. Handles may outlive the session.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/language/synchronize.hpp>
#include "engine_here.hpp"
#include "feed.hpp"
#include "static_step.hpp"

namespace flowgraph {

// The first extent of what dequeue_many gives.
inline constexpr dim elements{"elements"};

namespace detail {

// What a component is in C++: an array, or a number.
template <class Component>
using component_array = typename shaped<ndarray, typename Component::element_type, Component>::type;
template <class Component>
using component_rows = component_array<many_of<elements, Component>>;

template <class First, class... Rest>
auto one_or_tuple(First&& first, Rest&&... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return std::remove_cvref_t<First>(std::move(first));
  else
    return std::tuple<std::remove_cvref_t<First>, std::remove_cvref_t<Rest>...>(std::move(first), std::move(rest)...);
}

// The components of a queue that a model declares.
template <const auto& Model, int Node, int K>
struct declared_component {
  static constexpr const std::int64_t* words() {
    const std::int64_t* word = Model.view().attrs(Node).data + attr_words<ops::queue_attrs> + 1;
    for (int k = 0; k < K; ++k) word += 2 + word[1];
    return word;
  }
  static constexpr dtype type = static_cast<dtype>(*words());
  static constexpr shape_text shape = [] {
    shape_text s;
    for (int i = 0; i < static_cast<int>(words()[1]); ++i) s.push(words()[2 + i]);
    s.finish();
    return s;
  }();
};
template <const auto& Model, int Node>
inline constexpr int declared_components = static_cast<int>(Model.view().attrs(Node)[attr_words<ops::queue_attrs>]);

}  // namespace detail

template <any_tensor... Components>
class queue_handle {
 public:
  explicit queue_handle(std::shared_ptr<detail::resource> q) : queue_(std::move(q)) {}

  // A value for each component: an array, a vector, a number. Waits for room.
  template <feedable... D>
  auto enqueue(const D&... values) const {
    return put<false>(nullptr, values...);
  }
  template <feedable... D>
  auto enqueue(const limits& l, const D&... values) const {
    return put<false>(&l, values...);
  }
  // The same with one more axis in front: as many elements as that is long.
  template <feedable... D>
  auto enqueue_many(const D&... values) const {
    return put<true>(nullptr, values...);
  }
  template <feedable... D>
  auto enqueue_many(const limits& l, const D&... values) const {
    return put<true>(&l, values...);
  }

  // A value, or a tuple of one for each component. end_of_input when the queue is closed and has none.
  auto dequeue() const { return take_one(nullptr); }
  auto dequeue(const limits& l) const { return take_one(&l); }
  // The same along a first axis. Of a closed queue that has fewer: end_of_input, and they stay.
  auto dequeue_many(std::int64_t n) const { return take_many(nullptr, n, taking::many); }
  auto dequeue_many(const limits& l, std::int64_t n) const { return take_many(&l, n, taking::many); }
  // The same, but of a closed queue as many as it still has.
  auto dequeue_up_to(std::int64_t n) const { return take_many(nullptr, n, taking::up_to); }
  auto dequeue_up_to(const limits& l, std::int64_t n) const { return take_many(&l, n, taking::up_to); }

  std::int64_t size() const { return detail::queue_size(*queue_); }
  bool closed() const { return detail::queue_closed(*queue_); }
  // No more elements come. A second time changes nothing.
  void close(pending p = pending::finish) const { detail::close_queue(*queue_, p); }

 private:
  using taking = detail::taking;
  static constexpr std::size_t count = sizeof...(Components);

  template <class Component, bool Many>
  using target = std::conditional_t<Many, detail::many_of<elements, Component>, Component>;
  template <class Target, class D>
  static constexpr bool check() {
    constexpr bool fits = detail::fits(detail::data_layout_of<D>(), detail::dtype_of<typename Target::element_type>,
                                       Target::shape) == detail::feed_fit::ok;
    if constexpr (!fits) detail::mistake<problem::queue_element, D, required<Target>>();
    return fits;
  }

  template <bool Many, class... D>
  auto put(const limits* l, const D&... values) const {
    if constexpr (sizeof...(D) != count) {
      detail::mistake<problem::queue_components, std::tuple<D...>, required<queue<Components...>>>();
    } else if constexpr ((check<target<Components, Many>, D>() && ...)) {
      const std::tuple<detail::lent<D>...> data{detail::lent<D>(values)...};
      const auto in = std::apply(
          [](const auto&... d) {
            return std::array<array_view, count>{
                array_view{const_cast<void*>(d.data.data), d.data.dims, d.data.rank, d.data.type}...};
          },
          data);
      // A flat run has as many elements as its length allows.
      const detail::borrowed& first = std::get<0>(data).data;
      const std::int64_t each = std::max<std::int64_t>(size_of_component<Components...>(), 1);
      const std::int64_t rows = !Many ? 1 : first.flat ? first.count / each : first.dims[0];
      detail::enqueue(*queue_, in.data(), rows, Many, l);
    }
  }
  template <class First, class...>
  static constexpr std::int64_t size_of_component() {
    std::int64_t n = 1;
    for (int i = 0; i < First::rank; ++i) n *= First::shape.number[i];
    return n;
  }

  auto take_one(const limits* l) const {
    return std::apply([](auto&&... a) { return detail::one_or_tuple(value_of(std::move(a))...); },
                      take<detail::component_array<Components>...>(l, 1, taking::one));
  }
  auto take_many(const limits* l, std::int64_t n, taking how) const {
    return std::apply([](auto&&... a) { return detail::one_or_tuple(std::move(a)...); },
                      take<detail::component_rows<Components>...>(l, n, how));
  }
  template <class... Array>
  std::tuple<Array...> take(const limits* l, std::int64_t n, taking how) const {
    std::optional<std::tuple<Array...>> all;
    std::array<array_view, count> out;
    detail::dequeue(*queue_, how, n, l, [&](std::int64_t rows) {
      all.emplace(make<Array>(rows)...);
      out = std::apply(
          [](auto&... a) {
            return std::array<array_view, count>{
                array_view{a.data(), a.dims().data(), a.rank, detail::dtype_of<typename Array::element_type>}...};
          },
          *all);
      return std::span<const array_view>(out);
    });
    return std::move(*all);
  }
  template <class Array>
  static Array make(std::int64_t rows) {
    typename Array::dims_type dims{};
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = Array::shape.number[i] >= 0 ? Array::shape.number[i] : rows;
    return Array(dims, [](typename Array::element_type*) {});
  }
  template <class Array>
  static auto value_of(Array&& a) {
    if constexpr (Array::rank == 0)
      return *a.data();
    else
      return std::move(a);
  }

  std::shared_ptr<detail::resource> queue_;
};

// Held by one step, or by one of these: lock and unlock are for std::unique_lock.
template <class Tag = void>
class basic_mutex_handle {
 public:
  explicit basic_mutex_handle(std::shared_ptr<detail::resource> m)
      : mutex_(std::move(m)),
        owner_(std::make_unique<char>()) {}

  // Waits until nobody has it. What this handle has already it does not get again: argument_error.
  void lock() { detail::lock_mutex(*mutex_, owner_.get(), nullptr); }
  void lock(const limits& l) { detail::lock_mutex(*mutex_, owner_.get(), &l); }
  bool try_lock() { return detail::try_lock_mutex(*mutex_, owner_.get()); }
  // argument_error: it is not held by this handle.
  void unlock() { detail::unlock_mutex(*mutex_, owner_.get()); }

 private:
  std::shared_ptr<detail::resource> mutex_;
  std::unique_ptr<const char> owner_;  // its address tells it from others
};
using mutex_handle = basic_mutex_handle<>;

template <class Tag = void>
class basic_barrier_handle {
 public:
  explicit basic_barrier_handle(std::shared_ptr<detail::resource> b) : barrier_(std::move(b)) {}

  // Waits until as many as the barrier has parties are there. Who gives up no longer counts.
  void arrive() const { detail::arrive_at(*barrier_, nullptr); }
  void arrive(const limits& l) const { detail::arrive_at(*barrier_, &l); }

 private:
  std::shared_ptr<detail::resource> barrier_;
};
using barrier_handle = basic_barrier_handle<>;

namespace detail {

template <const auto& Model, int Node,
          class Indices = std::make_integer_sequence<int, declared_components<Model, Node>>>
struct declared_queue;
template <const auto& Model, int Node, int... K>
struct declared_queue<Model, Node, std::integer_sequence<int, K...>> {
  using handle = queue_handle<typename shaped<tensor, type_of<declared_component<Model, Node, K>::type>,
                                              declared_component<Model, Node, K>>::type...>;
};

}  // namespace detail
}  // namespace flowgraph
