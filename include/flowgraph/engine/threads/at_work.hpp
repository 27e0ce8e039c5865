// Whether a thread is in the middle of a step. Who wakes another step may hold variables that this one wants, so an
// executor that runs tasks in the call finds the thread at work: its tasks run when the thread is done, or waits.
#pragma once

namespace flowgraph::detail {

// What runs later on the thread that it was left to.
class late_work {
 public:
  virtual void go_on() noexcept = 0;  // which may end it

 protected:
  ~late_work() = default;

  const void* owner_ = nullptr;

 private:
  template <class Tag>
  friend class basic_at_work;

  late_work* next_ = nullptr;
};

// The calling thread is at work while one of these lives.
template <class Tag = void>
class basic_at_work {
 public:
  basic_at_work() { ++mine().depth; }
  ~basic_at_work() {
    state& s = mine();
    if (s.depth == 1 && s.late != nullptr) run_all(s);
    --s.depth;
  }
  basic_at_work(const basic_at_work&) = delete;
  basic_at_work& operator=(const basic_at_work&) = delete;

  static bool here() { return mine().depth > 0; }
  // Of a thread that is at work.
  static void leave(late_work& w) {
    state& s = mine();
    w.next_ = s.late;
    s.late = &w;
  }
  // The step that the thread is in the middle of is about to wait, and holds nothing.
  static void pause() {
    state& s = mine();
    if (s.depth == 1 && s.late != nullptr) run_all(s);
  }
  // Runs what this owner has left to the calling thread, wherever that is: the owner is about to go.
  static void settle(const void* owner) {
    late_work** at = &mine().late;
    while (*at != nullptr) {
      late_work* w = *at;
      if (w->owner_ != owner) {
        at = &w->next_;
        continue;
      }
      *at = w->next_;
      w->go_on();
      at = &mine().late;  // others may have come
    }
  }

 private:
  struct state {
    int depth = 0;
    late_work* late = nullptr;
  };
  static state& mine() {
    static constinit thread_local state s;
    return s;
  }

  [[gnu::noinline]] static void run_all(state& s) {
    while (s.late != nullptr) {
      late_work* w = s.late;
      s.late = w->next_;
      w->go_on();
    }
  }
};
using at_work = basic_at_work<>;

}  // namespace flowgraph::detail
