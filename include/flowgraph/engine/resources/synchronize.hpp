// Mutexes and barriers of a session. Steps stand in line as they do at a queue.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <flowgraph/core/text_from.hpp>
#include <flowgraph/engine/threads/linked_list.hpp>
#include <flowgraph/ops/synchronize.hpp>
#include "resource.hpp"

namespace flowgraph::detail {

// Somebody in line, until it is granted what it came for.
struct line_turn : attempt {
  line_turn *next = nullptr, *before = nullptr;
  waiter* who = nullptr;
  bool in_line = false;

  void stand(linked_list<line_turn>& line, waiter& w) {
    who = &w;
    in_line = true;
    line.push_back(this);
  }
  // False: it is not in line, or not any more.
  bool leave_line(linked_list<line_turn>& line) {
    if (!std::exchange(in_line, false)) return false;
    line.remove(this);
    return true;
  }
};

template <class Tag = void>
class basic_mutex_resource final : public resource {
 public:
  explicit basic_mutex_resource(std::string name) : name_(std::move(name)) {}

  class acquiring final : public line_turn {
   public:
    acquiring(basic_mutex_resource& m, const void* owner) : mutex_(m), owner_(owner) {}
    bool begin(const kernel_args&, waiter& w) override { return mutex_.acquire(*this, owner_, w); }
    bool cancel() noexcept override {
      const std::lock_guard lock(mutex_.mutex_);
      return leave_line(mutex_.line_);
    }
    void finish(const kernel_args&) override {}
    void leave() noexcept override { mutex_.release(owner_); }

   private:
    friend class basic_mutex_resource;

    basic_mutex_resource& mutex_;
    const void* owner_;
  };

  std::unique_ptr<attempt> make_attempt(std::uint64_t op, const std::int64_t*, const void* step) override {
    if (op == ops::mutex_acquire::id) return std::make_unique<acquiring>(*this, step);
    if (op == ops::mutex_release::id)
      return at_once([this, step](const kernel_args&) {
        if (!release(step)) refuse(problem::mutex_not_held);
      });
    return at_once([](const kernel_args&) {});  // the declaration itself
  }

  // False: somebody else has it.
  bool try_acquire(const void* owner) {
    const std::lock_guard lock(mutex_);
    if (owner_ != nullptr) return false;
    owner_ = owner;
    return true;
  }
  // False: this owner does not have it.
  bool release(const void* owner) noexcept {
    acquiring* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (owner_ != owner) return false;
      owner_ = nullptr;
      if (!line_.empty()) {
        next = static_cast<acquiring*>(line_.pop_front());
        next->in_line = false;
        owner_ = next->owner_;
      }
    }
    if (next != nullptr) next->who->wake();
    return true;
  }
  [[noreturn]] void refuse(problem why) const {
    throw argument_error(why, text_from({"mutex \"", name_, "\": ", sentence(why)}));
  }

 private:
  bool acquire(acquiring& a, const void* owner, waiter& w) {
    const std::lock_guard lock(mutex_);
    if (owner_ == owner) refuse(problem::mutex_held);
    if (owner_ != nullptr) {
      a.stand(line_, w);
      return false;
    }
    owner_ = owner;
    return true;
  }

  std::string name_;
  std::mutex mutex_;
  const void* owner_ = nullptr;
  linked_list<line_turn> line_;
};
using mutex_resource = basic_mutex_resource<>;

template <class Tag = void>
class basic_barrier_resource final : public resource {
 public:
  explicit basic_barrier_resource(std::int64_t parties) : parties_(parties) {}

  class arriving final : public line_turn {
   public:
    explicit arriving(basic_barrier_resource& b) : barrier_(b) {}
    bool begin(const kernel_args&, waiter& w) override { return barrier_.arrive(*this, w); }
    bool cancel() noexcept override {
      const std::lock_guard lock(barrier_.mutex_);
      return leave_line(barrier_.line_);
    }
    void finish(const kernel_args&) override {}

   private:
    basic_barrier_resource& barrier_;
  };

  std::unique_ptr<attempt> make_attempt(std::uint64_t op, const std::int64_t*, const void*) override {
    if (op == ops::barrier_arrive::id) return std::make_unique<arriving>(*this);
    return at_once([](const kernel_args&) {});  // the declaration itself
  }

 private:
  bool arrive(arriving& a, waiter& w) {
    linked_list<line_turn> all;
    {
      const std::lock_guard lock(mutex_);
      if (line_.size() + 1 < parties_) {
        a.stand(line_, w);
        return false;
      }
      for (line_turn* t = line_.front(); t != nullptr; t = t->next) t->in_line = false;
      all.take(line_, line_.size());
    }
    while (!all.empty()) all.pop_front()->who->wake();
    return true;
  }

  std::int64_t parties_;
  std::mutex mutex_;
  linked_list<line_turn> line_;
};
using barrier_resource = basic_barrier_resource<>;

}  // namespace flowgraph::detail
