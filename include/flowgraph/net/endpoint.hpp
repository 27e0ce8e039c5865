// A task's place on the network: it listens, connects, keeps strangers short, and knows which links it has. Which
// carriers there are is said by whoever makes it.
#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/core/text_from.hpp>

#include "stream_link.hpp"

namespace flowgraph::detail {

struct endpoint_options {
  task_name self;
  std::string cluster;
  std::uint64_t incarnation = 0;  // not 0, and another one at each start
  std::uint64_t fingerprint = 0;
  net_clock::duration beat = std::chrono::seconds(1);
  net_clock::duration patience = std::chrono::seconds(4);
  net_clock::duration handshake = std::chrono::seconds(5);
  std::size_t strangers = 64;  // connections that have not said HELLO yet
};

template <class F>
struct guarded {
  F f;
  std::weak_ptr<const char> alive;
  template <class... Argument>
  void operator()(Argument&&... a) const {
    if (!alive.expired()) f(std::forward<Argument>(a)...);
  }
};

class endpoint final : private link_owner {
 public:
  // Whoever connects has proven its name: the receiver of its frames, or nullptr and why not. `l` is where to answer;
  // it is not up yet.
  using welcome = std::function<std::shared_ptr<link_receiver>(const peer_info&, const std::shared_ptr<peer_link>& l,
                                                               std::string& why)>;

  // The loop outlives the endpoint.
  endpoint(event_loop& loop, endpoint_options o) : loop_(loop), options_(std::move(o)) {}
  ~endpoint() {
    on_loop([this] {
      leave();
      carriers_.clear();
      drained_ = nullptr;
      fail_all("the endpoint has ended");
      while (!strangers_.empty()) end_stranger(strangers_.front());
      alive_ = nullptr;
    });
  }
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  event_loop& loop() { return loop_; }
  const endpoint_options& options() const { return options_; }

  // Before listen and connect. What comes first is tried first.
  void add(std::unique_ptr<carrier> c) { carriers_.push_back(std::move(c)); }

  // Gives the address that it has: a port of 0 becomes a free one. Throws argument_error.
  std::string listen(const std::string& address, welcome w) {
    std::string at;
    std::exception_ptr failed;
    on_loop([&] {
      try {
        at = carrier_of(address).listen(address, mine([this, w](stream_handle s) { meet(std::move(s), w); }));
      } catch (...) {
        failed = std::current_exception();
      }
    });
    if (failed) std::rethrow_exception(failed);
    return at;
  }

  // At once; the receiver is told when the link is up, or that it is not by that time. Names that can't be looked up
  // yet and ports that nobody listens at are tried again until then. Throws argument_error of an address of no known
  // form.
  std::shared_ptr<peer_link> connect(const task_name& to, const std::string& address, std::shared_ptr<link_receiver> r,
                                     net_time deadline) {
    carrier& by = carrier_of(address);
    hello own{wire_version, options_.cluster, options_.self, to, options_.incarnation, options_.fingerprint};
    const auto l = make_link(own, true, std::move(r));
    const auto enter = [this, l, d = dialling{address, &by, deadline, first_pause, 0}] {
      links_.emplace(l.get(), l);
      dialling_.emplace(l.get(), d);
    };
    const bool here = loop_.here();
    if (here) enter();
    loop_.post(mine([this, l, enter, here] {
      if (!here) enter();
      if (leaving_) return l->fail(problem::link_closed, "this task is leaving");
      dial(l);
    }));
    return l;
  }

  // Nobody new; every link says that it sends no more, and what is not down by the deadline is closed. `done` is called
  // on the loop when no link is left.
  void drain(net_time deadline, std::function<void()> done) {
    loop_.post(mine([this, deadline, done = std::move(done)] {
      leave();
      drained_ = done;
      for (const auto& [at, l] : std::map(links_))
        if (l->is_up())
          l->drain();
        else
          l->fail(problem::link_closed, "this task is leaving");
      if (links_.empty()) return finish_drain();
      drain_timer_ =
          loop_.at(deadline, mine([this] { fail_all("it did not end by the deadline of this task's drain"); }));
    }));
  }

  // How many links are up or being made. On the loop.
  std::size_t links() const { return links_.size(); }

 private:
  struct dialling {
    std::string address;
    carrier* by;
    net_time deadline;
    net_clock::duration pause;
    timer_id timer;  // of the next attempt, or of this one's end
  };
  struct stranger {
    stream_handle stream;  // until it is the link's
    std::shared_ptr<stream_link> l;
    timer_id timer = 0;
  };
  using stranger_handle = std::shared_ptr<stranger>;
  static constexpr net_clock::duration first_pause = std::chrono::milliseconds(20);
  static constexpr net_clock::duration longest_pause = std::chrono::seconds(1);
  static constexpr std::size_t remembered_incarnations = 64;

  template <class F>
  void on_loop(const F& f) {
    if (loop_.here()) return f();
    std::promise<void> done;
    loop_.post([&] {
      f();
      done.set_value();
    });
    done.get_future().wait();
  }
  // What is called back while the endpoint is there, and else does nothing. All of it happens on the loop.
  template <class F>
  guarded<F> mine(F f) {
    return {std::move(f), alive_};
  }
  std::shared_ptr<stream_link> make_link(const hello& own, bool dials, std::shared_ptr<link_receiver> r) {
    return std::make_shared<stream_link>(loop_, static_cast<link_owner&>(*this), own, dials,
                                         link_times{options_.beat, options_.patience}, std::move(r));
  }
  carrier& carrier_of(const std::string& address) {
    for (const auto& c : carriers_)
      if (c->dials(address)) return *c;
    throw argument_error(problem::address_form, {"\"", address, "\" is no address that this program can reach"});
  }

  // ---- dialling

  void dial(const std::shared_ptr<stream_link>& l) {
    const auto found = dialling_.find(l.get());
    if (found == dialling_.end()) return;
    dialling& d = found->second;
    const net_time until = std::min(d.deadline, loop_.now() + options_.handshake);
    // One attempt: dialled, shaken hands, HELLO; or its time is over.
    auto tried = std::make_shared<stream_handle>();
    auto over = std::make_shared<bool>(false);
    d.timer = loop_.at(until, mine([this, l, over, tried] {
                         if (std::exchange(*over, true)) return;
                         if (*tried) (*tried)->close();
                         next_attempt(l, {"no answer", 0, false});
                       }));
    const auto shaken = mine([this, l, over, tried](const stream_result& r) {
      if (std::exchange(*over, true)) return;
      if (!r.why.empty()) return next_attempt(l, r);
      begin(l, std::move(*tried));
    });
    d.by->dial(d.address, mine([this, l, over, tried, shaken](const std::string& why, stream_handle s) {
                 if (*over) return;
                 if (!s) {
                   *over = true;
                   return next_attempt(l, {why, 0, false});
                 }
                 *tried = std::move(s);
                 (*tried)->shake_hands({options_.cluster, options_.self, l->peer()}, shaken);
               }));
  }
  void begin(const std::shared_ptr<stream_link>& l, stream_handle s) {
    const auto found = dialling_.find(l.get());
    if (found == dialling_.end()) return;
    dialling& d = found->second;
    loop_.cancel(d.timer);
    d.timer =
        loop_.at(std::min(d.deadline, loop_.now() + options_.handshake), [l] { l->interrupt("no answer to HELLO"); });
    l->begin(std::move(s));
  }
  void next_attempt(const std::shared_ptr<stream_link>& l, const stream_result& r) {
    if (!try_again(*l, r)) l->fail(r.refused ? problem::peer_refused : problem::peer_absent, r.why);
  }
  bool try_again(stream_link& l, const stream_result& r) override {
    const auto found = dialling_.find(&l);
    if (found == dialling_.end()) return false;
    dialling& d = found->second;
    loop_.cancel(d.timer);
    if (r.refused) return false;
    if (loop_.now() + d.pause >= d.deadline) {
      const std::string what = text_from({"no connection to ", d.address, ": ", r.why});
      l.fail(problem::peer_absent, what);
      return true;
    }
    d.timer = loop_.at(loop_.now() + d.pause, mine([this, self = l.shared_from_this()] { dial(self); }));
    d.pause = std::min(d.pause * 2, longest_pause);
    return true;
  }

  // ---- strangers

  void meet(stream_handle s, const welcome& w) {
    if (leaving_) return s->close();
    // One of the others makes room: whoever knocks without end can't keep all of it, and who has come to talk is
    // through before it is likely to be chosen.
    if (strangers_.size() >= options_.strangers) {
      chosen_ = chosen_ * 6364136223846793005u + 1442695040888963407u;
      end_stranger(*std::next(strangers_.begin(), static_cast<std::ptrdiff_t>((chosen_ >> 33) % strangers_.size())));
    }
    const auto one = std::make_shared<stranger>();
    one->stream = std::move(s);
    one->timer = loop_.at(loop_.now() + options_.handshake, mine([this, one] { end_stranger(one); }));
    strangers_.push_back(one);
    one->stream->shake_hands({options_.cluster, {}, options_.self}, mine([this, one, w](const stream_result& r) {
                               if (!one->stream) return;
                               if (!r.why.empty()) return end_stranger(one);
                               hello own{wire_version, options_.cluster,     options_.self,
                                         {},           options_.incarnation, options_.fingerprint};
                               one->l = make_link(own, false, nullptr);
                               welcomes_[one->l.get()] = w;
                               links_.emplace(one->l.get(), one->l);
                               one->l->begin(std::move(one->stream));
                             }));
  }
  void end_stranger(stranger_handle one) {
    if (const auto at = std::find(strangers_.begin(), strangers_.end(), one); at != strangers_.end())
      strangers_.erase(at);
    loop_.cancel(one->timer);
    if (one->stream) one->stream->close();
    if (one->l && !one->l->is_up()) one->l->fail(problem::peer_refused, "it did not say who it is");
    one->l = nullptr;
  }
  void forget_stranger(const stream_link& l) {
    for (auto at = strangers_.begin(); at != strangers_.end(); ++at)
      if ((*at)->l.get() == &l) {
        loop_.cancel((*at)->timer);
        (*at)->l = nullptr;
        strangers_.erase(at);
        return;
      }
  }

  // ---- links

  std::shared_ptr<link_receiver> admit(stream_link& l, const peer_info& p, std::string& why) override {
    history& h = known_[p.name];
    if (std::find(h.older.begin(), h.older.end(), p.incarnation) != h.older.end()) {
      why = "another start of " + p.name.text() + " has taken its place";
      return nullptr;
    }
    if (leaving_) {
      why = options_.self.text() + " is leaving";
      return nullptr;
    }
    auto r = welcomes_.at(&l)(p, l.shared_from_this(), why);
    if (!r && why.empty()) why = "nobody here wants it";
    return r;
  }
  void is_up(stream_link& l) override {
    if (const auto found = dialling_.find(&l); found != dialling_.end()) {
      loop_.cancel(found->second.timer);
      dialling_.erase(found);
    }
    forget_stranger(l);
    welcomes_.erase(&l);
    // Another start of the same task: what the former one still has on the way must have no effect.
    const peer_info& p = l.peer_facts();
    history& h = known_[p.name];
    if (h.incarnation != 0 && h.incarnation != p.incarnation) {
      h.older.push_back(h.incarnation);
      if (h.older.size() > remembered_incarnations) h.older.pop_front();
      for (const auto& [at, other] : std::map(links_))
        if (other->peer() == p.name && other->is_up() && other->peer_facts().incarnation != p.incarnation)
          other->fail(problem::peer_lost, "it has been started again");
    }
    h.incarnation = p.incarnation;
  }
  void is_down(stream_link& l) override {
    if (const auto found = dialling_.find(&l); found != dialling_.end()) {
      loop_.cancel(found->second.timer);
      dialling_.erase(found);
    }
    forget_stranger(l);
    welcomes_.erase(&l);
    const auto keep = l.shared_from_this();
    links_.erase(&l);
    if (links_.empty() && drained_) loop_.post(mine([this] { finish_drain(); }));
  }

  // ---- the end

  void leave() {
    leaving_ = true;
    for (const auto& c : carriers_) c->stop();
  }
  void fail_all(const std::string& why) {
    for (const auto& [at, l] : std::map(links_)) l->fail(problem::link_closed, why);
  }
  void finish_drain() {
    if (!links_.empty() || !drained_) return;
    loop_.cancel(std::exchange(drain_timer_, 0));
    std::exchange(drained_, nullptr)();
  }

  struct history {
    std::uint64_t incarnation = 0;
    std::deque<std::uint64_t> older;
  };

  event_loop& loop_;
  endpoint_options options_;
  std::vector<std::unique_ptr<carrier>> carriers_;
  std::map<stream_link*, std::shared_ptr<stream_link>> links_;
  std::map<stream_link*, dialling> dialling_;
  std::map<stream_link*, welcome> welcomes_;
  std::list<stranger_handle> strangers_;
  std::map<task_name, history> known_;
  std::uint64_t chosen_ = 1;
  bool leaving_ = false;
  std::function<void()> drained_;
  timer_id drain_timer_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace flowgraph::detail
