// What every way between devices has to do, be it one memory or a network: run_all(make) for each of them.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/engine/rendezvous/rendezvous.hpp>
#include <flowgraph/ops/send_recv.hpp>

namespace rendezvous_conformance {

namespace fg = flowgraph;
using fg::detail::attempt;
using fg::detail::rendezvous;
using namespace std::chrono_literals;

// A channel of floats; in turns, as those of loops are; without elements: news.
struct kind {
  std::int64_t elements = 4;
  bool in_turns = false;
  bool news = false;
};

enum class ends { both, sends, receives };

// A plan of nothing but these channels, from the first device to the second; or the part of one that has one of them.
inline fg::plan_data plan_of(const std::vector<kind>& kinds, ends e) {
  fg::plan_data p;
  p.words.push(0);
  const auto text = [&](std::string_view s) {
    const int begin = p.chars.count;
    for (const char c : s) p.chars.push(c);
    return p.devices.push({begin, static_cast<int>(s.size())});
  };
  text("/job:a/task:0/cpu:0"), text("/job:b/task:0/cpu:0");
  p.regions.push({});
  p.regions.push({});
  const auto add = [&](const kind& k, bool sends, int channel, int slot) {
    fg::instruction x{};
    x.op = sends ? &fg::op_def_of<fg::ops::send> : &fg::op_def_of<fg::ops::recv>;
    x.device = sends ? 0 : 1;
    x.region = k.in_turns ? 1 : 0;
    x.attrs = p.words.push(channel);
    x.n_attrs = 1;
    x.operands = p.operands.count;
    if (!k.news) {
      const int dims = p.dims.push(k.elements), shape = p.shapes.push({dims, 1, 0});
      p.operands.push({fg::storage::slot, fg::dtype::float32, slot, shape});
      (sends ? x.n_operands : x.n_outputs) = 1;
    }
    return p.instructions.push(x);
  };
  for (int k = 0; k < static_cast<int>(kinds.size()); ++k) {
    const kind& x = kinds[static_cast<std::size_t>(k)];
    fg::channel c;
    c.from = 0, c.to = 1;
    c.send = e == ends::receives ? -1 : add(x, true, k, k);
    c.receive = e == ends::sends ? -1 : add(x, false, k, k);
    c.slot = x.news || c.receive < 0 ? -1 : p.slots.push({x.elements * 4, 1, 1, x.in_turns ? fg::turns_on_the_way : 1});
    p.channels.push(c);
  }
  return p;
}

// The two sides of a way; where it is one memory they are the same. The plans outlive them.
struct sides {
  std::shared_ptr<rendezvous> a, b;  // values go from a to b
};
struct plans {
  explicit plans(const std::vector<kind>& kinds)
      : whole(plan_of(kinds, ends::both)),
        sends(plan_of(kinds, ends::sends)),
        receives(plan_of(kinds, ends::receives)) {}
  fg::plan_data whole, sends, receives;
};
using maker = std::function<sides(const plans&)>;

class noting final : public fg::detail::waiter {
 public:
  void wake() noexcept override {
    const std::lock_guard lock(mutex_);
    ++woken_;
    changed_.notify_all();
  }
  // Woken so often, since it was made.
  bool comes(int times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return woken_ >= times; }) && woken_ == times;
  }
  bool stays(int times = 0) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, 20ms, [&] { return woken_ > times; });
  }
  int woken() {
    const std::lock_guard lock(mutex_);
    return woken_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int woken_ = 0;
};

// One end of a channel, as an instruction has it.
class end_of {
 public:
  end_of(rendezvous& r, int channel, bool sends, const kind& k)
      : kind_(k),
        what_(sends ? r.sender(channel) : r.receiver(channel)),
        value_(static_cast<std::size_t>(k.news ? 0 : k.elements)),
        view_{value_.data(), &kind_.elements, 1, fg::dtype::float32} {
    args_.in = args_.out = &view_;
    args_.n_in = sends && !k.news;
    args_.n_out = !sends && !k.news;
  }
  // Where its value is, instead of its own memory.
  void lies(void* at) { view_.data = at; }

  bool begin(fg::detail::waiter& w) { return what_->begin(args_, w); }
  bool begin(float x, fg::detail::waiter& w) { return put(x), begin(w); }
  bool cancel() { return what_->cancel(); }
  void finish() { what_->finish(args_); }
  // Begins, waits, finishes.
  void run() {
    if (noting w; !begin(w)) REQUIRE(w.comes());
    finish();
  }
  void send(float x) { put(x), run(); }
  // All elements are what was sent; -1: they are not.
  float receive() {
    run();
    return get();
  }
  float get() const {
    const auto* at = static_cast<const float*>(view_.data);
    for (std::size_t i = 0; i < value_.size(); ++i)
      if (at[i] != at[0] + static_cast<float>(i)) return -1;
    return value_.empty() ? 0 : at[0];
  }

 private:
  void put(float x) {
    for (std::size_t i = 0; i < value_.size(); ++i) static_cast<float*>(view_.data)[i] = x + static_cast<float>(i);
  }

  kind kind_;
  std::unique_ptr<attempt> what_;
  std::vector<float> value_;
  fg::array_view view_;
  fg::kernel_args args_;
};

// A step at both sides, again and again.
class meeting {
 public:
  meeting(const maker& make, std::vector<kind> kinds) : kinds_(std::move(kinds)), plans_(kinds_), sides_(make(plans_)) {
    memory_.resize(kinds_.size());
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const kind& x = kinds_[k];
      fg::array_view v;
      if (!x.news) {
        memory_[k].resize(static_cast<std::size_t>(x.elements * 4 + 64) * 2);
        v = {memory_[k].data(), &kinds_[k].elements, 1, fg::dtype::float32};
      }
      landings_.push_back(v);
      none_.push_back(is_shared() ? v : fg::array_view());
      send.push_back(std::make_unique<end_of>(*sides_.a, static_cast<int>(k), true, x));
      receive.push_back(std::make_unique<end_of>(*sides_.b, static_cast<int>(k), false, x));
    }
  }
  ~meeting() { send.clear(), receive.clear(); }
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;

  bool is_shared() const { return sides_.a == sides_.b; }
  rendezvous& a() { return *sides_.a; }
  rendezvous& b() { return *sides_.b; }
  void begin(std::uint64_t step) {
    begin_a(step);
    if (!is_shared()) begin_b(step);
  }
  void begin_a(std::uint64_t step) { sides_.a->begin({step, none_}); }
  void begin_b(std::uint64_t step) { sides_.b->begin({step, landings_}); }
  void end() {
    sides_.a->end();
    if (!is_shared()) sides_.b->end();
  }
  void* landing(int channel) { return landings_[static_cast<std::size_t>(channel)].data; }

  std::vector<std::unique_ptr<end_of>> send, receive;

 private:
  std::vector<kind> kinds_;
  plans plans_;
  sides sides_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<fg::array_view> landings_, none_;
};

template <class Error, class F>
std::string text_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "no error";
}

inline constexpr kind once{}, in_turns{4, true}, news{4, false, true}, news_in_turns{4, true, true}, empty{0, true},
    large{10'000, true};

inline void either_may_come_first(const maker& make) {
  meeting m(make, {once, once, news, empty});
  for (std::uint64_t step = 1; step <= 3; ++step) {
    m.begin(step);
    const auto x = static_cast<float>(step);
    m.send[0]->send(x);
    CHECK(m.receive[0]->receive() == x);
    noting w;
    CHECK(!m.receive[1]->begin(w));
    CHECK(w.stays());
    m.send[1]->send(10 + x);
    CHECK(w.comes());
    m.receive[1]->finish();
    CHECK(m.receive[1]->get() == 10 + x);
    for (int k = 2; k < 4; ++k) {
      noting n;
      CHECK(!m.receive[static_cast<std::size_t>(k)]->begin(n));
      m.send[static_cast<std::size_t>(k)]->send(0);
      CHECK(n.comes());
      m.receive[static_cast<std::size_t>(k)]->finish();
    }
    m.end();
  }
}

// Both ends at their own pace; of each channel the turns come in order, whatever others do.
inline void turns_come_in_order(const maker& make) {
  const std::vector<kind> kinds{in_turns, {1, true}, large, news_in_turns, empty};
  meeting m(make, kinds);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    m.begin(step);
    constexpr int turns = 100;
    std::atomic<int> wrong{0};
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      threads.emplace_back([&, k] {
        std::mt19937 random(static_cast<unsigned>(step * 100 + k));
        for (int t = 0; t < turns; ++t) {
          if (random() % 8 == 0) std::this_thread::yield();
          m.send[k]->send(static_cast<float>(t + 1000 * static_cast<int>(k)));
        }
      });
      threads.emplace_back([&, k] {
        std::mt19937 random(static_cast<unsigned>(step * 100 + k + 50));
        const bool has_value = !kinds[k].news && kinds[k].elements > 0;
        for (int t = 0; t < turns; ++t) {
          if (random() % 8 == 0) std::this_thread::yield();
          const float got = m.receive[k]->receive();
          wrong += has_value && got != static_cast<float>(t + 1000 * static_cast<int>(k));
        }
      });
    }
    threads.clear();
    CHECK(wrong == 0);
    m.end();
  }
}

// A sender needs nobody for as many turns as a channel has room for, and then waits: what is on its way is bounded.
inline void turns_on_the_way_are_bounded(const maker& make) {
  meeting m(make, {once, in_turns, news_in_turns});
  m.begin(1);
  for (std::size_t k = 0; k < 3; ++k) {
    const int room = k == 0 ? 1 : fg::turns_on_the_way;
    for (int t = 0; t < room; ++t) m.send[k]->send(static_cast<float>(t));
    noting w;
    CHECK(!m.send[k]->begin(static_cast<float>(room), w));
    CHECK(w.stays());
    for (int t = 0; t <= room; ++t) {
      const float got = m.receive[k]->receive();
      if (k < 2) CHECK(got == static_cast<float>(t));
      if (t == 0) {
        CHECK(w.comes());
        m.send[k]->finish();
      }
    }
    CHECK(w.woken() == 1);
  }
  m.end();
}

// Where the memory is one, a value that is received where it has landed is not copied again, nor one that is sent from
// there; elsewhere it is where it landed.
inline void values_are_handed_over(const maker& make) {
  meeting m(make, {once});
  m.begin(1);
  m.receive[0]->lies(m.landing(0));
  if (m.is_shared()) m.send[0]->lies(m.landing(0));
  m.send[0]->send(7);
  noting w;
  if (!m.receive[0]->begin(w)) REQUIRE(w.comes());
  if (m.is_shared()) static_cast<float*>(m.landing(0))[3] = -5;  // what a copy would have missed, or undone
  m.receive[0]->finish();
  const auto* const at = static_cast<const float*>(m.landing(0));
  CHECK(at[0] == 7);
  CHECK(at[3] == (m.is_shared() ? -5 : 10));
  m.end();
}

inline void who_gives_up_is_not_woken(const maker& make) {
  meeting m(make, {in_turns});
  m.begin(1);
  noting w;
  CHECK(!m.receive[0]->begin(w));
  CHECK(m.receive[0]->cancel());
  CHECK(!m.receive[0]->cancel());
  for (int t = 0; t < fg::turns_on_the_way; ++t) m.send[0]->send(static_cast<float>(t));
  CHECK(w.stays());
  CHECK(!m.send[0]->cancel());  // it is not begun again
  CHECK(!m.send[0]->begin(9, w));
  CHECK(m.send[0]->cancel());
  CHECK(!m.send[0]->cancel());
  CHECK(m.receive[0]->receive() == 0);
  CHECK(m.receive[0]->receive() == 1);
  CHECK(w.stays());
  CHECK(!m.receive[0]->cancel());
  m.end();
}

// Which side fails: with one memory there is one.
inline void a_failure_reaches_all_that_waits(const maker& make) {
  for (const bool at_b : {false, true}) {
    meeting m(make, {once, once, in_turns, once});
    const auto abort = [&](fg::problem why, std::string_view reason) { (at_b ? m.b() : m.a()).abort(why, reason); };
    for (std::uint64_t step = 1; step <= 3; ++step) {
      const fg::problem why = step == 1   ? fg::problem::kernel_failed
                              : step == 2 ? fg::problem::cancelled
                                          : fg::problem::deadline_passed;
      const auto ends_so = [&](end_of& e) {
        const auto f = [&] { e.finish(); };
        const std::string text = step == 1   ? text_of<fg::execution_error>(f)
                                 : step == 2 ? text_of<fg::cancelled_error>(f)
                                             : text_of<fg::deadline_error>(f);
        CAPTURE(text);
        return text.find("the first reason") != std::string::npos;
      };
      m.begin(step);
      m.send[0]->send(5);
      CHECK(m.receive[0]->receive() == 5);  // what has come before stays
      noting r, s;
      CHECK(!m.receive[1]->begin(r));
      for (int t = 0; t < fg::turns_on_the_way; ++t) m.send[2]->send(static_cast<float>(t));
      CHECK(!m.send[2]->begin(3, s));
      abort(why, "the first reason");
      abort(fg::problem::invalid_plan, "another one");
      CHECK(r.comes());
      CHECK(s.comes());
      CHECK(ends_so(*m.receive[1]));
      CHECK(ends_so(*m.send[2]));
      noting later;
      if (!m.receive[3]->begin(later)) CHECK(later.comes());
      CHECK(ends_so(*m.receive[3]));
      CHECK(!m.receive[3]->cancel());
      CHECK(m.receive[0]->get() == 5);
      CHECK(r.woken() + s.woken() == 2);
      m.end();
    }
    m.begin(4);  // and is over with its step
    m.send[1]->send(8);
    CHECK(m.receive[1]->receive() == 8);
    m.end();
  }
}

// What one step has not received, the next one does not get; nor what comes for a step that is over.
inline void steps_are_apart(const maker& make) {
  meeting m(make, {in_turns, once});
  m.begin(1);
  m.send[0]->send(1), m.send[0]->send(2), m.send[1]->send(3);
  CHECK(m.receive[0]->receive() == 1);
  m.end();
  m.end();  // says nothing new
  m.begin(2);
  noting a, b;
  CHECK(!m.receive[0]->begin(a));
  CHECK(!m.receive[1]->begin(b));
  CHECK(a.stays());
  CHECK(b.stays());
  m.send[0]->send(4), m.send[1]->send(5);
  CHECK(a.comes());
  CHECK(b.comes());
  m.receive[0]->finish(), m.receive[1]->finish();
  CHECK(m.receive[0]->get() == 4);
  CHECK(m.receive[1]->get() == 5);
  m.end();
  if (m.is_shared()) return;
  // One side is in the next step, for which the other one does not send yet.
  m.begin(3);
  m.b().end();
  m.begin_b(4);
  noting c;
  CHECK(!m.receive[1]->begin(c));
  m.send[1]->send(6);
  m.a().abort(fg::problem::kernel_failed, "of a step that is over");
  CHECK(c.stays());
  m.a().end();
  m.begin_a(4);
  m.send[1]->send(7);
  CHECK(c.comes());
  m.receive[1]->finish();
  CHECK(m.receive[1]->get() == 7);
  m.end();
  // The side that sends is ahead: what it sent is there when the other one begins.
  m.begin_a(5);
  m.send[1]->send(9);
  m.begin_b(5);
  CHECK(m.receive[1]->receive() == 9);
  m.end();
}

// Many at once, ended by a failure at a random moment: each attempt ends once, and nobody hangs.
inline void a_failure_may_come_at_any_moment(const maker& make) {
  std::vector<kind> kinds(4, in_turns);
  kinds.push_back(large);
  meeting m(make, kinds);
  std::mt19937 random(11);
  for (std::uint64_t step = 1; step <= 40; ++step) {
    m.begin(step);
    std::atomic<int> odd{0};
    {
      std::vector<std::jthread> threads;
      for (std::size_t k = 0; k < kinds.size(); ++k)
        for (const bool sends : {true, false})
          threads.emplace_back([&, k, sends] {
            try {
              for (int t = 0; t < 1'000'000; ++t) {
                if (sends)
                  m.send[k]->send(static_cast<float>(t % 1000));
                else if (m.receive[k]->receive() != static_cast<float>(t % 1000))
                  ++odd;
              }
              ++odd;
            } catch (const fg::execution_error& e) {
              odd += e.why() != fg::problem::not_finite;
            }
          });
      const auto pause = std::chrono::microseconds(random() % 1500);
      rendezvous& from = random() % 2 == 0 ? m.a() : m.b();
      std::this_thread::sleep_for(pause);
      from.abort(fg::problem::not_finite, "at some moment");
    }
    CHECK(odd == 0);
    m.end();
  }
}

inline void run_all(const maker& make) {
  SUBCASE("either end may come first") { either_may_come_first(make); }
  SUBCASE("turns come in order") { turns_come_in_order(make); }
  SUBCASE("turns on the way are bounded") { turns_on_the_way_are_bounded(make); }
  SUBCASE("values are handed over") { values_are_handed_over(make); }
  SUBCASE("who gives up is not woken") { who_gives_up_is_not_woken(make); }
  SUBCASE("a failure reaches all that waits") { a_failure_reaches_all_that_waits(make); }
  SUBCASE("steps are apart") { steps_are_apart(make); }
  SUBCASE("a failure may come at any moment") { a_failure_may_come_at_any_moment(make); }
}

}  // namespace rendezvous_conformance
