// The threads of a session: the one that calls, and a crew of a fixed size, on threads of its own or on those that an
// application lends. Work that several threads do together is a gang: members join where they are wanted. Whoever
// opened it works too and waits only for those inside, so that a busy crew, or a call from one of its threads, delays
// nobody. Work that has no thread waits in an inbox: steps of run_async that are ready.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <flowgraph/core/list.hpp>
#include <flowgraph/plan/kernel_args.hpp>
#include <flowgraph/session/lent_threads.hpp>
#include "at_work.hpp"
#include "linked_list.hpp"

namespace flowgraph::detail {

template <class Tag = void>
class basic_crew final : public workers {
 public:
  // What has no thread of its own. run() may end it.
  class task {
   public:
    virtual void run() noexcept = 0;

    task *next = nullptr, *before = nullptr;

   protected:
    ~task() = default;
  };

  // threads: of the crew and of one caller, at the same time; of the crew one at least, so that a task has somebody.
  // lent: runs a member's task on another thread, at some time before this object ends; empty: threads begin here.
  basic_crew(lent_threads lent, int threads)
      : lent_(std::move(lent)),
        threads_(threads),
        size_(static_cast<std::size_t>(std::max(threads - 1, 1))),
        members_(list<member>(size_)) {
    for (std::size_t i = 0; i < size_; ++i) {
      members_[i].join(*this);
      if (lent_) home_.push_back(&members_[i]);
    }
    if (lent_) return;
    try {
      for (std::size_t i = 0; i < size_; ++i) members_[i].thread = std::thread([this] { serve(); });
    } catch (...) {
      end();
      throw;
    }
  }
  // When everything has run. Members that an executor has not started yet must not find this gone.
  ~basic_crew() override { end(); }

  int threads() const override { return threads_; }

  void spread(std::int64_t n, std::int64_t grain, part_function part, const void* body) override {
    parts p{n, grain, (n + grain - 1) / grain, part, body};
    gang g([](void* all) { static_cast<parts*>(all)->work(true); }, &p, true);
    open(g, static_cast<int>(std::min<std::int64_t>(p.count, threads_)) - 1);
    p.work(false);
    close(g);
    if (p.failure) std::rethrow_exception(p.failure);
  }

  // work(object) is called by several threads at the same time, from open() to close().
  class gang {
   public:
    // brief: threads that wait for something else may work along.
    gang(void (*work)(void*), void* object, bool brief = false) : work_(work), object_(object), brief_(brief) {}

   private:
    friend class basic_crew;
    void (*work_)(void*);
    void* object_;
    bool brief_;
    int wanted_ = 0;  // helpers that may still join
    std::atomic<int> inside_{0};
    gang* next_ = nullptr;
  };

  void open(gang& g, int helpers) {
    std::unique_lock lock = hold();
    g.next_ = open_;
    open_ = &g;
    admit(g, helpers, lock);
  }
  // Asks for more helpers, who come when they can.
  void invite(gang& g, int helpers) {
    std::unique_lock lock = hold();
    admit(g, helpers, lock);
  }
  // When there is nothing left to begin: waits for those inside.
  void close(gang& g) {
    {
      const std::unique_lock lock = hold();
      gang** at = &open_;
      while (*at != &g) at = &(*at)->next_;
      *at = g.next_;
    }
    const auto left = [&g] { return g.inside_.load(std::memory_order_acquire) == 0; };
    if (soon(left)) return;  // what is left is short; sleeping and waking would take longer
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    changed_.wait(lock, left);
    sleepers_.fetch_sub(1);
  }

  // Waits until done(), and works along where a kernel spreads its work.
  template <class Done>
  void idle(const Done& done) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    while (!done())
      if (!join(lock, true)) changed_.wait(lock);
    sleepers_.fetch_sub(1);
  }
  // Something changed that idle() may wait for.
  void news() {
    if (sleepers_.load() == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  // The task runs on a thread of the crew; where an executor runs it in the call, or takes no tasks, on the calling
  // one, as soon as that is in the middle of nothing else.
  void post(task& t) noexcept {
    std::unique_lock lock = hold();
    inbox_.push_back(&t);
    call(1, lock);
  }
  // The calling thread runs the tasks that are there, among them those that were left to it.
  void work_along() noexcept {
    at_work::settle(this);
    const at_work here;
    std::unique_lock lock = hold();
    while (run_task(lock)) {
    }
  }

 private:
  // One call of spread. The caller begins at the front, helpers begin at the back: where kernels follow each other that
  // are cut alike, a thread finds in its cache what it has written or read before.
  struct parts {
    std::int64_t n, grain, count;
    part_function part;
    const void* body;
    std::atomic<std::int64_t> begun{0}, front{0}, back{0};
    std::mutex mutex{};
    std::exception_ptr failure{};

    void work(bool helps) {
      while (begun.fetch_add(1, std::memory_order_relaxed) < count) {
        const std::int64_t i = helps ? count - 1 - back.fetch_add(1, std::memory_order_relaxed)
                                     : front.fetch_add(1, std::memory_order_relaxed);
        try {
          part(body, i * grain, std::min(n, (i + 1) * grain));
        } catch (...) {
          begun.store(count, std::memory_order_relaxed);  // the others need not begin
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
        }
      }
    }
  };

  struct member final : late_work {
    void join(basic_crew& c) { of = &c, owner_ = &c; }
    void go_on() noexcept override { of->take_part(*this); }

    basic_crew* of = nullptr;
    std::thread thread;  // where nobody lends any
    member *next = nullptr, *before = nullptr;
  };

  void admit(gang& g, int helpers, std::unique_lock<std::mutex>& lock) {
    g.wanted_ = std::min(g.wanted_ + std::max(helpers, 0), threads_ - 1);
    call(g.wanted_, lock);
  }
  // Up to n members that have nothing to do. Gives the lock back.
  void call(int n, std::unique_lock<std::mutex>& lock) noexcept {
    if (sleepers_.load() > 0) changed_.notify_all();
    linked_list<member> called;
    if (lent_) {
      out_ += static_cast<int>(std::min<std::int64_t>(n, home_.size()));
      called.take(home_, n);
    } else {
      n = std::min(n, resting_);
    }
    lock.unlock();
    invitations_.fetch_add(1, std::memory_order_relaxed);  // whoever lingers finds the lock free
    if (!lent_)
      for (; n > 0; --n) called_.notify_one();
    while (!called.empty()) send(*called.pop_front());
  }
  void send(member& m) noexcept {
    try {
      lent_.schedule({[](void* x) {
                        auto& sent = *static_cast<member*>(x);
                        sent.of->arrive(sent);
                      },
                      &m});
    } catch (...) {  // an executor that takes no more tasks
      arrive(m);
    }
  }
  // On a thread that may be in the middle of a step: then gangs do without, and tasks wait for its end.
  void arrive(member& m) noexcept {
    if (!at_work::here()) return take_part(m);
    std::unique_lock lock = hold();
    if (inbox_.empty()) return go_home(m);
    lock.unlock();
    at_work::leave(m);
  }
  void take_part(member& m) noexcept {
    const at_work here;
    std::unique_lock lock(mutex_);
    work(lock);
    go_home(m);
  }
  // While locked: afterwards this may be gone.
  void go_home(member& m) {
    home_.push_back(&m);
    --out_;
    changed_.notify_all();
  }
  // A thread of the crew's own.
  void serve() noexcept {
    const at_work here;
    std::unique_lock lock(mutex_);
    for (;;) {
      work(lock);
      if (ended_) return;
      ++resting_;
      called_.wait(lock);
      --resting_;
    }
  }
  void end() {
    if (lent_) at_work::settle(this);
    std::unique_lock lock(mutex_);
    ended_ = true;
    called_.notify_all();
    changed_.wait(lock, [this] { return out_ == 0; });
    lock.unlock();
    for (std::size_t i = 0; i < size_; ++i)
      if (members_[i].thread.joinable()) members_[i].thread.join();
  }

  // What is done under the lock takes less time than falling asleep.
  std::unique_lock<std::mutex> hold() {
    for (int i = 0; i < 64; ++i, relax())
      if (mutex_.try_lock()) return {mutex_, std::adopt_lock};
    return std::unique_lock(mutex_);
  }

  // Until there is nothing left to begin: gangs and tasks by turns, so that neither keeps the other waiting.
  void work(std::unique_lock<std::mutex>& lock) {
    for (bool joined = true; joined;) {
      joined = false;
      for (bool worked = true; worked;) {
        worked = join(lock, false);
        joined = joined || worked;
        worked = run_task(lock) || worked;
      }
      if (joined) linger(lock);
    }
  }
  bool run_task(std::unique_lock<std::mutex>& lock) {
    if (inbox_.empty()) return false;
    task* t = inbox_.pop_front();
    lock.unlock();
    t->run();
    lock = hold();
    return true;
  }
  // The kernels of a loop spread their work one after the other, some tens of microseconds apart: a helper that is
  // still awake is there at once, one that the pool has to wake is late.
  void linger(std::unique_lock<std::mutex>& lock) {
    const unsigned before = invitations_.load(std::memory_order_relaxed);
    lock.unlock();
    soon([&] { return invitations_.load(std::memory_order_relaxed) != before; });
    lock = hold();
  }
  // Whether done() becomes true while nobody sleeps.
  template <class Done>
  static bool soon(const Done& done) {
    using clock = std::chrono::steady_clock;
    const clock::time_point end = clock::now() + std::chrono::microseconds(50);
    do {
      for (int i = 0; i < 16; ++i, relax())
        if (done()) return true;
    } while (clock::now() < end);
    return false;
  }
  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  // Works for a gang that wants somebody; false: none does.
  bool join(std::unique_lock<std::mutex>& lock, bool only_brief) {
    gang* g = open_;
    while (g != nullptr && (g->wanted_ == 0 || (only_brief && !g->brief_))) g = g->next_;
    if (g == nullptr) return false;
    --g->wanted_;
    g->inside_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    g->work_(g->object_);
    lock = hold();
    g->inside_.fetch_sub(1, std::memory_order_release);  // from here on the gang may be gone
    if (sleepers_.load() > 0) changed_.notify_all();
    return true;
  }

  lent_threads lent_;
  int threads_;
  std::size_t size_;
  list<member> members_;
  std::mutex mutex_;
  std::condition_variable changed_, called_;
  gang* open_ = nullptr;  // the latest first
  linked_list<task> inbox_;
  linked_list<member> home_;  // of lent threads: who is not with the executor
  int out_ = 0;               // who is, waiting or running
  int resting_ = 0;           // of own threads: who sleeps
  bool ended_ = false;
  std::atomic<int> sleepers_{0};
  std::atomic<unsigned> invitations_{0};
};
using crew = basic_crew<>;

}  // namespace flowgraph::detail
