// A queue of a session. Who can't be served stands in line; whoever changes the queue moves elements for those in front
// as far as they go, and wakes those who are done. Elements are copied by their owners, outside the lock.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <flowgraph/core/list.hpp>
#include <flowgraph/core/text_from.hpp>
#include <flowgraph/session/resources.hpp>
#include "queue_elements.hpp"
#include "resource.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_queue_resource final : public resource {
 public:
  struct component {
    dtype type;
    list<std::int64_t> dims;
    std::size_t offset, bytes;
  };

  // words: of its node. seed: of the session.
  basic_queue_resource(std::string name, const std::int64_t* words, std::uint64_t seed)
      : name_(std::move(name)),
        attrs_(attrs_from_words<ops::queue_attrs>(words)),
        inside_(static_cast<ops::queue_kind>(attrs_.kind),
                mix(mix(seed, hash(name_)), static_cast<std::uint64_t>(attrs_.seed))) {
    const std::int64_t* word = words + attr_words<ops::queue_attrs>;
    for (std::int64_t n = *word++; n > 0; --n) {
      component c{static_cast<dtype>(*word++), {}, bytes_, 0};
      std::int64_t size = size_of(c.type);
      for (std::int64_t rank = *word++; rank > 0; --rank) size *= c.dims.emplace_back(*word++);
      c.bytes = static_cast<std::size_t>(size);
      bytes_ += (c.bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
      components_.push_back(std::move(c));
    }
  }

  // Somebody in line.
  class turn : public attempt {
   public:
    // kept: it is begun again and again, and keeps memory for that.
    turn(basic_queue_resource& q, bool kept) : queue_(q), kept_(kept) {}
    ~turn() override {
      if (!spare_.empty()) queue_.give_back(spare_);
    }
    turn *next = nullptr, *before = nullptr;

   protected:
    friend class basic_queue_resource;

    // Of why there is nothing.
    void check() const {
      const auto message = [&](std::string_view rest) {
        return text_from({"queue \"", queue_.name_, "\": ", sentence(failure_), rest});
      };
      if (failure_ == problem::queue_closed) throw closed_error(failure_, message(""));
      if (failure_ == problem::enqueue_cancelled)
        throw cancelled_error(failure_, message(text_from({"; ", moved_, " of ", wanted_, " elements are in it"})));
      if (failure_ == problem::end_of_input)
        throw end_of_input(failure_, message(text_from({": ", wanted_, " wanted, ", left_, " left"})));
    }

    basic_queue_resource& queue_;
    bool kept_;
    waiter* who_ = nullptr;
    element_list hand_;   // what goes in, or came out
    element_list spare_;  // to be filled next time
    std::int64_t wanted_ = 1, moved_ = 0, left_ = 0;
    bool in_line_ = false;
    problem failure_ = problem::none;
  };

  class putting final : public turn {
   public:
    putting(basic_queue_resource& q, bool many, bool kept) : turn(q, kept), many_(many) {}

    bool begin(const kernel_args& k, waiter& w) override { return begin(k.in, many_ ? k.in[0].dim(0) : 1, w); }
    // in: one for each component, of as many elements as `rows` have.
    bool begin(const array_view* in, std::int64_t rows, waiter& w) {
      wanted_ = rows;
      spare_.take(hand_, hand_.size());  // of one that was given up
      check_operands(in);
      if (spare_.size() < wanted_) queue_.lend(spare_, wanted_ - spare_.size());
      for (std::int64_t row = 0; row < wanted_; ++row) hand_.push_back(filled(in, row));
      return queue_.stand_in_line(*this, queue_.putters_, w);
    }
    bool cancel() noexcept override { return queue_.leave_line(*this, queue_.putters_); }
    void finish(const kernel_args&) override {
      spare_.take(hand_, hand_.size());
      check();
    }

   private:
    friend class basic_queue_resource;

    void check_operands(const array_view* in) const {
      const problem why = many_ ? problem::queue_batch : problem::queue_element;
      for (std::size_t i = 0; i < queue_.components_.size(); ++i)
        if (static_cast<std::size_t>(in[i].size() * size_of(in[i].type)) !=
            queue_.components_[i].bytes * static_cast<std::size_t>(wanted_))
          throw argument_error(
              why, text_from({"queue \"", queue_.name_, "\": ", sentence(why), ", got ", type_text(in[i])}));
    }
    queue_element* filled(const array_view* in, std::int64_t row) {
      queue_element* e = spare_.empty() ? queue_.new_element() : spare_.pop_front();
      for (std::size_t i = 0; i < queue_.components_.size(); ++i) {
        const component& c = queue_.components_[i];
        const auto* from = static_cast<const std::byte*>(in[i].data) + static_cast<std::size_t>(row) * c.bytes;
        if (c.bytes > 0) std::memcpy(e->data.get() + c.offset, from, c.bytes);
      }
      if (queue_.is(ops::queue_kind::priority)) std::memcpy(&e->priority, e->data.get(), sizeof e->priority);
      return e;
    }

    using turn::check, turn::hand_, turn::queue_, turn::spare_, turn::wanted_;

    bool many_;
  };

  class getting final : public turn {
   public:
    getting(basic_queue_resource& q, taking how, bool kept) : turn(q, kept), how_(how) {}

    // How many elements: of `one` no first axis, else the first extent of the first result.
    bool begin(const kernel_args& k, waiter& w) override { return begin(how_ == taking::one ? 1 : k.out[0].dim(0), w); }
    bool begin(std::int64_t n, waiter& w) {
      wanted_ = n;
      return queue_.stand_in_line(*this, queue_.getters_, w);
    }
    bool cancel() noexcept override { return queue_.leave_line(*this, queue_.getters_); }
    // How many came; throws why none did.
    std::int64_t count() const {
      check();
      return hand_.size();
    }
    void finish(const kernel_args& k) override {
      const std::int64_t n = count();
      for (std::int64_t row = 0; row < n; ++row) {
        queue_element* e = hand_.pop_front();
        for (std::size_t i = 0; i < queue_.components_.size(); ++i) {
          const component& c = queue_.components_[i];
          auto* to = static_cast<std::byte*>(k.out[i].data) + static_cast<std::size_t>(row) * c.bytes;
          if (c.bytes > 0) std::memcpy(to, e->data.get() + c.offset, c.bytes);
        }
        spare_.push_back(e);
      }
      if (how_ == taking::up_to) tell_count(k, n);
    }
    // A step that ended between wake-up and finish has not had them.
    void leave() noexcept override {
      if (!hand_.empty()) queue_.put_back(*this);
    }

   private:
    friend class basic_queue_resource;

    void tell_count(const kernel_args& k, std::int64_t n) const {
      const std::size_t all = queue_.components_.size();
      for (std::size_t i = 0; i < all; ++i) {
        const std::size_t bytes = queue_.components_[i].bytes, used = static_cast<std::size_t>(n) * bytes;
        const std::size_t whole = static_cast<std::size_t>(k.out[i].dim(0)) * bytes;
        if (whole > used) std::memset(static_cast<std::byte*>(k.out[i].data) + used, 0, whole - used);
      }
      if (k.n_out > static_cast<int>(all)) *k.out[all].as<std::int64_t>() = n;
    }

    using turn::check, turn::hand_, turn::queue_, turn::spare_, turn::wanted_;

    taking how_;
  };

  std::unique_ptr<attempt> make_attempt(std::uint64_t op, const std::int64_t* words, const void*) override {
    if (op == ops::enqueue::id) return std::make_unique<putting>(*this, false, true);
    if (op == ops::enqueue_many::id) return std::make_unique<putting>(*this, true, true);
    if (op == ops::dequeue::id) return std::make_unique<getting>(*this, taking::one, true);
    if (op == ops::dequeue_many::id) return std::make_unique<getting>(*this, taking::many, true);
    if (op == ops::dequeue_up_to::id) return std::make_unique<getting>(*this, taking::up_to, true);
    if (op == ops::queue_size::id)
      return at_once([this](const kernel_args& k) { *k.out[0].as<std::int64_t>() = size(); });
    if (op == ops::queue_close::id)
      return at_once([this, p = static_cast<pending>(words[1])](const kernel_args&) { close(p); });
    return at_once([](const kernel_args&) {});  // the declaration itself
  }

  const list<component>& components() const { return components_; }
  std::int64_t size() {
    const std::lock_guard lock(mutex_);
    return inside_.size();
  }
  bool closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  void close(pending p) {
    linked_list<turn> woken;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      if (p == pending::cancel)
        while (!putters_.empty()) complete(putters_, woken, problem::enqueue_cancelled);
      settle(woken);
    }
    wake(woken);
  }

 private:
  bool is(ops::queue_kind k) const { return attrs_.kind == static_cast<std::int64_t>(k); }

  // True: it is done already.
  bool stand_in_line(turn& t, linked_list<turn>& line, waiter& w) {
    linked_list<turn> woken;
    bool done = false;
    {
      const std::lock_guard lock(mutex_);
      t.who_ = nullptr;
      t.failure_ = problem::none;
      t.moved_ = 0;
      if (&line == &getters_) spare_.take(t.spare_, t.spare_.size());
      if (&line == &putters_ && closed_) {
        t.failure_ = problem::queue_closed;
        return true;
      }
      inside_.reserve(made_);  // so that nothing throws once it is in line
      line.push_back(&t);
      t.in_line_ = true;
      settle(woken);
      done = !t.in_line_;
      if (!done) t.who_ = &w;
      if (&line == &putters_ && t.kept_) t.spare_.take(spare_, t.wanted_);
    }
    wake(woken);
    return done;
  }
  // False: it is done already, or has left.
  bool leave_line(turn& t, linked_list<turn>& line) noexcept {
    linked_list<turn> woken;
    {
      const std::lock_guard lock(mutex_);
      if (!t.in_line_) return false;
      t.in_line_ = false;
      line.remove(&t);
      if (&line == &getters_) take_back(t);
      settle(woken);
    }
    wake(woken);
    return true;
  }

  // Moves elements as far as they go.
  void settle(linked_list<turn>& woken) {
    for (bool moved = true; moved;) {
      moved = false;
      while (!putters_.empty()) {
        turn& t = *putters_.front();
        std::int64_t room = attrs_.capacity - inside_.size();
        // All or nothing where they could ever fit: nobody has to know how many got in before the rest was given up.
        const bool whole = t.wanted_ <= attrs_.capacity - attrs_.min_after_dequeue;
        if (room < (whole ? t.wanted_ : 1)) break;
        for (; room > 0 && !t.hand_.empty(); --room, ++t.moved_) inside_.push(t.hand_.pop_front());
        moved = true;
        if (!t.hand_.empty()) break;
        complete(putters_, woken, problem::none);
      }
      while (!getters_.empty()) {
        auto& t = static_cast<getting&>(*getters_.front());
        const bool ended = closed_ && putters_.empty();
        const std::int64_t keep = ended ? 0 : attrs_.min_after_dequeue;
        for (; t.hand_.size() < t.wanted_ && inside_.size() > keep; moved = true) t.hand_.push_back(inside_.pop());
        if (t.hand_.size() == t.wanted_ || (ended && t.how_ == taking::up_to && !t.hand_.empty())) {
          complete(getters_, woken, problem::none);
        } else if (ended) {
          t.left_ = t.hand_.size();
          take_back(t);
          complete(getters_, woken, problem::end_of_input);
        } else {
          break;
        }
      }
    }
  }
  // The first in line.
  static void complete(linked_list<turn>& line, linked_list<turn>& woken, problem failure) {
    turn* t = line.pop_front();
    t->in_line_ = false;
    t->failure_ = failure;
    if (t->who_ != nullptr) woken.push_back(t);
  }
  static void wake(linked_list<turn>& woken) noexcept {
    while (!woken.empty()) woken.pop_front()->who_->wake();  // which may end it: it is out of the list by then
  }

  // In the order in which they left, so that the first is in front again.
  void take_back(turn& t) {
    linked_list<queue_element> reversed;
    while (!t.hand_.empty()) reversed.push_front(t.hand_.pop_front());
    while (!reversed.empty()) inside_.put_back(reversed.pop_front());
  }
  void put_back(turn& t) noexcept {
    linked_list<turn> woken;
    {
      const std::lock_guard lock(mutex_);
      take_back(t);
      settle(woken);
    }
    wake(woken);
  }
  queue_element* new_element() {
    auto* e = new queue_element(bytes_);
    ++made_;
    return e;
  }
  void lend(element_list& to, std::int64_t n) {
    const std::lock_guard lock(mutex_);
    to.take(spare_, n);
  }
  void give_back(element_list& from) {
    const std::lock_guard lock(mutex_);
    spare_.take(from, from.size());
  }

  std::string name_;
  ops::queue_attrs attrs_;
  list<component> components_;
  std::size_t bytes_ = 0;              // of an element
  std::atomic<std::int64_t> made_{0};  // elements that exist, wherever they are
  std::mutex mutex_;
  queue_elements inside_;
  element_list spare_;  // memory that no element uses
  linked_list<turn> putters_, getters_;
  bool closed_ = false;
};
using queue_resource = basic_queue_resource<>;

}  // namespace flowgraph::detail
