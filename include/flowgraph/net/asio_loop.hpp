// An event loop on a thread of its own that sockets live in: Asio's. What is posted keeps its order whoever posts it,
// which Asio's own queue does not promise between its thread and others.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include "event_loop.hpp"

namespace flowgraph::detail {

class asio_loop final : public event_loop {
 public:
  asio_loop() : thread_([this] { run(); }) {}
  // What is posted still is done; timers are not, and sockets are closed.
  ~asio_loop() override {
    post([this] { ending_ = true; });
    thread_.join();
  }
  asio_loop(const asio_loop&) = delete;
  asio_loop& operator=(const asio_loop&) = delete;

  asio::io_context& io() { return io_; }

  net_time now() const override { return net_clock::now(); }
  void post(work w) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(w));
      if (std::exchange(coming_, true)) return;
    }
    asio::post(io_, [this] { do_posted(); });
  }
  timer_id at(net_time when, work w) override {
    timer_id id;
    bool first;
    {
      const std::lock_guard lock(mutex_);
      first = timers_.empty() || when < timers_.first();
      id = timers_.add(when, std::move(w));
    }
    if (first && here()) arm();
    if (first && !here()) post([this] { arm(); });
    return id;
  }
  void cancel(timer_id id) override {
    const std::lock_guard lock(mutex_);
    timers_.remove(id);
  }
  bool here() const override { return std::this_thread::get_id() == own_.load(); }

 private:
  void run() {
    own_ = std::this_thread::get_id();
    io_.run();
  }
  void do_posted() {
    {
      const std::lock_guard lock(mutex_);
      doing_.swap(posted_);
    }
    for (work& w : doing_) {
      w();
      w = nullptr;
    }
    doing_.clear();
    {
      const std::lock_guard lock(mutex_);
      coming_ = !posted_.empty();
      if (!coming_) return ending_ ? io_.stop() : void();
    }
    asio::post(io_, [this] { do_posted(); });  // what sockets have is done in between
  }
  // For the first timer.
  void arm() {
    net_time first;
    {
      const std::lock_guard lock(mutex_);
      if (timers_.empty()) return;
      first = timers_.first();
    }
    timer_.expires_at(first);
    timer_.async_wait([this](const std::error_code& e) {
      if (!e) ring();
    });
  }
  void ring() {
    const net_time due = now();
    for (;;) {
      work w;
      {
        const std::lock_guard lock(mutex_);
        w = timers_.take_due(due);
      }
      if (!w) break;
      w();
    }
    arm();
  }

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> stays_{io_.get_executor()};
  asio::steady_timer timer_{io_};
  std::mutex mutex_;
  std::vector<work> posted_, doing_;
  timer_list timers_;
  bool coming_ = false;  // do_posted is
  bool ending_ = false;  // of the loop's thread
  std::atomic<std::thread::id> own_{};
  std::thread thread_;
};

}  // namespace flowgraph::detail
