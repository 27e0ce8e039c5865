// Tasks of one process: what one writes is copied once, to where the other reads. Needs no network; tests run it on a
// clock of their own.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/core/text_from.hpp>

#include "byte_stream.hpp"
#include "peer_error.hpp"

namespace flowgraph::detail {

// Two ends of a stream, and what each has asked for. Nothing is kept on the way: a write ends when it has been read.
class memory_pipe {
 public:
  struct end {
    event_loop* loop = nullptr;  // nullptr: closed
    std::vector<std::span<const std::byte>> writing;
    byte_stream::done written;
    std::span<std::byte> reading;
    std::size_t least = 0, got = 0;
    byte_stream::done read;
  };

  memory_pipe(event_loop& a, event_loop& b) {
    ends_[0].loop = &a;
    ends_[1].loop = &b;
  }

  void read(int who, std::span<std::byte> to, std::size_t least, byte_stream::done d) {
    const std::lock_guard lock(mutex_);
    end& e = ends_[who];
    if (e.loop == nullptr) return;
    e.reading = to;
    e.least = least;
    e.got = 0;
    e.read = std::move(d);
    move(ends_[1 - who], e);
  }
  void write(int who, byte_stream::buffers b, byte_stream::done d) {
    const std::lock_guard lock(mutex_);
    end& e = ends_[who];
    if (e.loop == nullptr) return;
    e.writing.assign(b.begin(), b.end());
    e.written = std::move(d);
    move(e, ends_[1 - who]);
  }
  void close(int who) {
    const std::lock_guard lock(mutex_);
    end &e = ends_[who], &other = ends_[1 - who];
    if (e.loop == nullptr) return;
    const stream_result ended{"the stream was closed", 0, false};
    answer(e, e.read, ended);
    answer(e, e.written, ended);
    const stream_result gone{"it has ended the connection", 0, false};
    answer(other, other.read, gone);
    answer(other, other.written, gone);
    e.loop = nullptr;
  }

 private:
  static void answer(end& e, byte_stream::done& d, const stream_result& r) {
    if (d && e.loop != nullptr) e.loop->post([d = std::exchange(d, nullptr), r] { d(r); });
  }
  void move(end& from, end& to) {
    if (from.loop == nullptr || to.loop == nullptr) {
      const stream_result gone{"it has ended the connection", 0, false};
      answer(from, from.written, gone);
      answer(to, to.read, gone);
      return;
    }
    if (!from.written || !to.read) return;
    std::size_t part = 0;
    while (part < from.writing.size() && to.got < to.reading.size()) {
      std::span<const std::byte>& p = from.writing[part];
      const std::size_t n = std::min(p.size(), to.reading.size() - to.got);
      if (n > 0) std::memcpy(to.reading.data() + to.got, p.data(), n);
      to.got += n;
      p = p.subspan(n);
      if (p.empty()) ++part;
    }
    from.writing.erase(from.writing.begin(), from.writing.begin() + static_cast<std::ptrdiff_t>(part));
    if (to.got >= to.least) answer(to, to.read, {{}, to.got, false});
    if (from.writing.empty()) answer(from, from.written, {});
  }

  std::mutex mutex_;
  end ends_[2];
};

class memory_stream final : public byte_stream {
 public:
  memory_stream(std::shared_ptr<memory_pipe> p, int who, event_loop& loop)
      : pipe_(std::move(p)),
        who_(who),
        loop_(loop) {}
  ~memory_stream() override { close(); }

  void shake_hands(const stream_ends&, done d) override {
    loop_.post([d = std::move(d)] { d({}); });
  }
  void read(std::span<std::byte> to, std::size_t least, done d) override { pipe_->read(who_, to, least, std::move(d)); }
  void write(buffers b, done d) override { pipe_->write(who_, b, std::move(d)); }
  void close() override { pipe_->close(who_); }
  std::string name() const override { return "process"; }

 private:
  std::shared_ptr<memory_pipe> pipe_;
  int who_;
  event_loop& loop_;
};

// Who listens, by name: one for a process, or a test's own.
class memory_network {
 public:
  struct listener {
    event_loop* loop;
    carrier::accepted accepted;
  };

  static const std::shared_ptr<memory_network>& of_process() {
    static const auto one = std::make_shared<memory_network>();
    return one;
  }

  bool add(const std::string& name, listener l) {
    const std::lock_guard lock(mutex_);
    return listeners_.emplace(name, std::move(l)).second;
  }
  void remove(const std::string& name) {
    const std::lock_guard lock(mutex_);
    listeners_.erase(name);
  }
  // The end of who dials; nullptr: nobody listens. Under the lock, so that the listener's loop is there.
  stream_handle connect(const std::string& name, event_loop& from) {
    const std::lock_guard lock(mutex_);
    const auto found = listeners_.find(name);
    if (found == listeners_.end()) return nullptr;
    listener& l = found->second;
    auto pipe = std::make_shared<memory_pipe>(from, *l.loop);
    auto theirs = std::make_shared<stream_handle>(std::make_unique<memory_stream>(pipe, 1, *l.loop));
    l.loop->post([accepted = l.accepted, theirs] { accepted(std::move(*theirs)); });
    return std::make_unique<memory_stream>(pipe, 0, from);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, listener> listeners_;
};

// Addresses "process:NAME".
class memory_carrier final : public carrier {
 public:
  explicit memory_carrier(event_loop& loop, std::shared_ptr<memory_network> n = memory_network::of_process())
      : loop_(loop),
        network_(std::move(n)) {}
  ~memory_carrier() override { leave(); }

  bool dials(std::string_view address) const override { return address.starts_with(prefix); }
  void dial(const std::string& address, dialled d) override {
    stream_handle s = stopped_ ? nullptr : network_->connect(address, loop_);
    auto held = std::make_shared<stream_handle>(std::move(s));
    loop_.post([d = std::move(d), held] { d(*held ? "" : "nobody listens there", std::move(*held)); });
  }
  std::string listen(const std::string& address, accepted a) override {
    if (!network_->add(address, {&loop_, std::move(a)}))
      throw argument_error(problem::address_taken, {address, ": another task of this process listens there"});
    listening_.push_back(address);
    return address;
  }
  void stop() override {
    stopped_ = true;
    leave();
  }

 private:
  static constexpr std::string_view prefix = "process:";

  void leave() {
    for (const std::string& name : listening_) network_->remove(name);
    listening_.clear();
  }

  event_loop& loop_;
  std::shared_ptr<memory_network> network_;
  std::vector<std::string> listening_;
  bool stopped_ = false;
};

}  // namespace flowgraph::detail
