// What fg::variables has: every variable's memory, by name. A session has one of its own, or shares one with others. A
// variable's first value depends on its name and the seed of the session that brings it: not on its place in the
// graph, on threads or on the machine.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/core/convert.hpp>
#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/text.hpp>
#include <flowgraph/engine/threads/parking.hpp>
#include <flowgraph/session/options.hpp>
#include <flowgraph/session/variables.hpp>
#include "fill_initial.hpp"
#include "variable_lock.hpp"

namespace flowgraph::detail {

struct variable_state {
  std::string name;        // empty: nobody else can ask for it
  std::int64_t place = 0;  // in the order in which variables came: that in which they are locked
  dtype type = dtype::none;
  list<std::int64_t> dims;
  std::int64_t size = 1;
  bool trainable = true;
  aligned_buffer<std::byte> data;
  variable_lock lock;
  std::uint64_t version = 0;  // counts who held it to change it

  std::size_t bytes() const { return static_cast<std::size_t>(size) * static_cast<std::size_t>(size_of(type)); }
  array_view view() const { return {data.get(), dims.data(), static_cast<int>(dims.size()), type}; }
};

// A variable that somebody works with.
struct variable_access {
  variable_state* variable;
  bool writes;
};

// Adds an access to a list, or to what the list has of that variable. A list is in the order in which variables are
// locked from `first` on.
inline void add_access(list<variable_access>& to, std::size_t first, variable_state* v, bool writes) {
  variable_access* const at =
      std::lower_bound(to.begin() + first, to.end(), v->place,
                       [](const variable_access& a, std::int64_t place) { return a.variable->place < place; });
  if (at != to.end() && at->variable == v)
    at->writes = at->writes || writes;
  else
    to.insert(static_cast<std::size_t>(at - to.begin()), {v, writes});
}

// Holds variables while it lives. They are locked in the order of their places, so nobody waits in a circle.
template <class Tag = void>
class basic_variable_hold : variable_turn {
 public:
  // all: each variable once, in the order of places. Throws when the limits say so.
  basic_variable_hold(waiting_room& room, std::span<const variable_access> all, const step_limits* within = nullptr)
      : basic_variable_hold(room, all, std::defer_lock) {
    take(within);
  }
  // Takes nothing yet.
  basic_variable_hold(waiting_room& room, std::span<const variable_access> all, std::defer_lock_t)
      : room_(room),
        all_(all),
        held_(all.first(0)) {}
  basic_variable_hold(const basic_variable_hold&) = delete;
  basic_variable_hold& operator=(const basic_variable_hold&) = delete;
  ~basic_variable_hold() { release(); }

  // A step that waits for another one lets its variables go, and takes them again.
  void release() noexcept {
    if (held_.empty()) return;
    for (const variable_access& a : held_) {
      if (a.writes) ++a.variable->version;
      a.variable->lock.unlock(a.writes);
    }
    const std::span<const variable_access> free = held_;
    held_ = all_.first(0);
    if (room_.waiting.load() != 0) tell(free);
  }
  // On the calling thread, which waits.
  void take(const step_limits* within) {
    if (!take_free()) wait(within);
  }
  // True: it has all of them. False: after w.wake(), which may have been called; or after cancel() gave true never.
  bool begin(waiter& w) { return take_free() || stand(w); }
  // True: it does not wait any more, and nobody will be woken. What it has by now it keeps.
  bool cancel() noexcept {
    linked_list<variable_turn> woken;
    {
      const std::lock_guard lock(room_.mutex);
      if (!in_line) return false;
      variable_lock& from = next_one().variable->lock;
      from.leave(*this);
      --room_.waiting;
      serve(from, woken);
    }
    wake(woken);
    return true;
  }

 private:
  const variable_access& next_one() const { return all_[held_.size()]; }
  void got_one() { held_ = all_.first(held_.size() + 1); }
  bool take_free() {
    for (; held_.size() < all_.size(); got_one())
      if (!next_one().variable->lock.try_lock(next_one().writes)) return false;
    return true;
  }
  [[gnu::noinline]] void wait(const step_limits* within) {
    thread_waiter& me = thread_waiter::for_variables();
    if (stand(me)) return;
    const problem why = me.wait_for(*this, within);
    if (why == problem::none) return;
    release();
    step_limits::refuse(why);
  }

  // In one line after the other, as far as they go: whoever lets a variable go does the rest.
  [[gnu::noinline]] bool stand(waiter& w) {
    const std::lock_guard lock(room_.mutex);
    who_ = &w;
    ++room_.waiting;  // from here on whoever lets go looks into the room
    return go_on();
  }
  bool go_on() {
    for (; held_.size() < all_.size(); got_one())
      if (!next_one().variable->lock.stand(*this, next_one().writes)) return false;
    --room_.waiting;
    return true;
  }
  static void serve(variable_lock& lock, linked_list<variable_turn>& woken) {
    while (variable_turn* t = lock.next()) {
      auto& hold = *static_cast<basic_variable_hold*>(t);
      hold.got_one();
      if (hold.go_on()) woken.push_back(t);
    }
  }
  [[gnu::noinline]] void tell(std::span<const variable_access> free) noexcept {
    linked_list<variable_turn> woken;
    {
      const std::lock_guard lock(room_.mutex);
      for (const variable_access& a : free) serve(a.variable->lock, woken);
    }
    wake(woken);
  }
  static void wake(linked_list<variable_turn>& woken) noexcept {
    while (!woken.empty()) static_cast<basic_variable_hold*>(woken.pop_front())->who_->wake();  // which may end it
  }

  waiting_room& room_;
  std::span<const variable_access> all_, held_;
  waiter* who_;
};
using variable_hold = basic_variable_hold<>;

template <class Tag = void>
class basic_plan_shelf;  // engine/plan_shelf.hpp

template <class Tag>
class basic_variable_table {
 public:
  // Sessions come and go. Either all of them take locks or none does: a session that takes none would break what the
  // others promise. Throws argument_error.
  void enter(bool locks) {
    const std::lock_guard lock(mutex_);
    if ((locks ? without_locks_ : with_locks_) > 0)
      throw argument_error(problem::policies_differ, {"session: ", sentence(problem::policies_differ)});
    ++(locks ? with_locks_ : without_locks_);
  }
  void leave(bool locks) noexcept {
    const std::lock_guard lock(mutex_);
    --(locks ? with_locks_ : without_locks_);
    // Steps without locks count no versions, and a plan that is kept may have copies of what was there before.
    if (!locks)
      for (const auto& v : all_) ++v->version;
  }

  // to: the variable of each of these nodes. Those that there are not yet are made, and begin with this seed; where a
  // node declares what is there with another type or other extents it is a graph_error, and none are made. named: so
  // is a variable without a name, which nobody could find again.
  void find(const graph_view& g, std::span<const int> nodes, std::uint64_t seed, bool named,
            list<variable_state*>& to) {
    const std::lock_guard lock(mutex_);
    to.clear();
    for (const int node : nodes) {
      if (named && g.name_of(node).empty()) refuse_unnamed(g, node);
      to.push_back(named_so(g.name_of(node)));
      if (to.back() != nullptr && !is_declared_by(*to.back(), g, node)) refuse(*to.back(), g, node);
    }
    for (std::size_t k = 0; k < nodes.size(); ++k)
      if (to[k] == nullptr) to[k] = &add(g, nodes[k], seed);
  }
  // A variable of zeros, if there is none of this name.
  void bring(std::string_view name, dtype type, std::span<const std::int64_t> dims) {
    const std::lock_guard lock(mutex_);
    if (named_so(name) != nullptr) return;
    auto v = make(name, type, dims);
    std::fill_n(v->data.get(), v->bytes(), std::byte{});
    add(std::move(v));
  }
  // Null: there is none of this name. Stays where it is.
  variable_state* find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    return named_so(name);
  }
  // All that there are by now, in the order of places.
  list<variable_state*> all() {
    const std::lock_guard lock(mutex_);
    list<variable_state*> result;
    for (const auto& v : all_) result.push_back(v.get());
    return result;
  }

  // To be called by who holds it, or before anybody knows of it.
  static void begin(const graph_view& g, int node, variable_state& v, std::uint64_t seed) {
    const auto a = attrs_from_words<ops::variable::attrs>(g.attrs(node).data);
    const initial_value initial{static_cast<initializer>(a.initializer), a.a, a.b};
    const random_stream stream(seed, v.name.empty() ? static_cast<std::uint64_t>(node) : hash(v.name), 0);
    with_type(v.type, [&]<class T>(T) {
      T* const to = reinterpret_cast<T*>(v.data.get());
      if (initial.kind != initializer::values) return fill_initial(to, v.dims, v.size, stream, initial);
      const std::int64_t* word = g.attrs(node).data + attr_words<ops::variable::attrs>;
      for (std::int64_t i = 0; i < v.size; ++i) to[i] = from_word<T>(word[i]);
    });
  }

  waiting_room room;

  // Made by whoever first has a graph that is gone before its plan. They point to the variables.
  std::shared_ptr<basic_plan_shelf<Tag>> shelf() {
    const std::lock_guard lock(mutex_);
    if (shelf_ == nullptr) shelf_ = std::make_shared<basic_plan_shelf<Tag>>();
    return shelf_;
  }

 private:
  // Null: there is none.
  variable_state* named_so(std::string_view name) const {
    if (name.empty()) return nullptr;
    const int at = by_name_.find(hash(name));
    if (at < 0) return nullptr;
    if (variable_state* const v = all_[static_cast<std::size_t>(at)].get(); v->name == name) return v;
    for (const owner<variable_state>& v : all_)  // two names of one hash
      if (v->name == name) return v.get();
    return nullptr;
  }
  static bool is_declared_by(const variable_state& v, const graph_view& g, int node) {
    const extents e = g.shape_of(node);
    return v.type == g.nodes[node].type && std::equal(v.dims.begin(), v.dims.end(), e.d, e.d + e.rank);
  }
  [[noreturn]] static void refuse(const variable_state& v, const graph_view& g, int node) {
    throw graph_error(problem::variable_differs, text_from({label_of(g, node), " (", line_text(g, node),
                                                            "): ", sentence(problem::variable_differs), ": ",
                                                            type_text(g, node), " instead of ", type_text(v.view())}));
  }

  [[noreturn]] static void refuse_unnamed(const graph_view& g, int node) {
    throw graph_error(problem::variable_unnamed, text_from({label_of(g, node), " (", line_text(g, node),
                                                            "): ", sentence(problem::variable_unnamed)}));
  }

  owner<variable_state> make(std::string_view name, dtype type, std::span<const std::int64_t> dims) const {
    auto v = make_owner<variable_state>();
    v->name = name;
    v->place = static_cast<std::int64_t>(all_.size());
    v->type = type;
    v->dims.assign(dims.data(), dims.data() + dims.size());
    for (const std::int64_t n : dims) v->size *= n;
    v->data = allocate_aligned<std::byte>(v->bytes());
    return v;
  }
  variable_state& add(const graph_view& g, int node, std::uint64_t seed) {
    const extents e = g.shape_of(node);
    auto v = make(g.name_of(node), g.nodes[node].type, {e.d, static_cast<std::size_t>(e.rank)});
    v->trainable = attrs_from_words<ops::variable::attrs>(g.attrs(node).data).trainable != 0;
    begin(g, node, *v, seed);
    return add(std::move(v));
  }
  variable_state& add(owner<variable_state> v) {
    by_name_.reserve(static_cast<int>(all_.size()) + 1);  // so that one that is there can be found
    variable_state& made = *all_.emplace_back(std::move(v));
    if (!made.name.empty() && by_name_.find(hash(made.name)) < 0)
      by_name_.set(hash(made.name), static_cast<int>(all_.size()) - 1);
    return made;
  }

  std::mutex mutex_;
  list<owner<variable_state>> all_;         // in the order of places
  hash_map by_name_;                        // from a name's hash to its place
  int with_locks_ = 0, without_locks_ = 0;  // sessions
  std::shared_ptr<basic_plan_shelf<Tag>> shelf_;
};

}  // namespace flowgraph::detail
