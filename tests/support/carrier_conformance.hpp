// What every carrier must do, whatever it goes over: the same cases run on each. A kind of carrier says how to make
// one, and where it can listen.
#pragma once
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "../net/support.hpp"

namespace net_test {

using namespace std::chrono_literals;

inline const task_name conform_ps{"ps", 0}, conform_worker{"worker", 1};

// A task that breaks the rules: bytes at a carrier, without a link.
class stranger_at {
 public:
  stranger_at(event_loop& loop, std::unique_ptr<carrier> c) : loop_(loop), carrier_(std::move(c)) {}
  ~stranger_at() {
    on_loop([&] {
      stream_ = nullptr;
      carrier_->stop();
      carrier_ = nullptr;
    });
  }

  bool dial(const std::string& address) {
    std::promise<bool> done;
    loop_.post([&] {
      carrier_->dial(address, [&](const std::string&, stream_handle s) {
        stream_ = std::move(s);
        done.set_value(stream_ != nullptr);
      });
    });
    return done.get_future().get();
  }
  stream_result shake(const task_name& from = conform_worker, const task_name& to = conform_ps,
                      const std::string& cluster = "test") {
    return ask([&](const byte_stream::done& d) { stream_->shake_hands({cluster, from, to}, d); });
  }
  stream_result write(std::string_view text) {
    return ask([&](const byte_stream::done& d) {
      const std::array<std::span<const std::byte>, 1> all{std::as_bytes(std::span(text))};
      stream_->write(all, d);
    });
  }
  // Everything until the other end has ended it.
  std::string read_all() {
    std::string all;
    std::vector<std::byte> some(4096);
    for (;;) {
      const stream_result r = ask([&](const byte_stream::done& d) { stream_->read(some, 1, d); });
      if (!r.why.empty()) return all;
      all.append(reinterpret_cast<const char*>(some.data()), r.bytes);
    }
  }
  std::string read_some(std::size_t bytes) {
    std::string text(bytes, '\0');
    const stream_result r =
        ask([&](const byte_stream::done& d) { stream_->read(std::as_writable_bytes(std::span(text)), bytes, d); });
    text.resize(r.bytes);
    return text;
  }
  // The answer to HELLO.
  bool welcome() {
    frame_head h;
    head_text t;
    const std::string text = read_some(head_bytes);
    if (text.size() != head_bytes) return false;
    std::memcpy(t.data(), text.data(), head_bytes);
    return decode(t, h) && h.kind == static_cast<std::uint8_t>(link_kind::hello) &&
           read_some(h.bytes).size() == h.bytes;
  }
  void close() {
    on_loop([&] { stream_->close(); });
  }

 private:
  template <class F>
  void on_loop(const F& f) {
    std::promise<void> done;
    loop_.post([&] {
      f();
      done.set_value();
    });
    done.get_future().wait();
  }
  template <class F>
  stream_result ask(const F& f) {
    auto done = std::make_shared<std::promise<stream_result>>();
    auto answer = done->get_future();
    loop_.post([&] { f([done](const stream_result& r) { done->set_value(r); }); });
    return answer.get();
  }

  event_loop& loop_;
  std::unique_ptr<carrier> carrier_;
  stream_handle stream_;
};

inline std::string text_of(const head_text& t) { return {reinterpret_cast<const char*>(t.data()), t.size()}; }
inline std::string frame(const frame_head& h, std::string_view body = {}) {
  frame_head with = h;
  if (with.bytes == 0) with.bytes = body.size();
  return text_of(encode(with)).append(body);
}
inline std::string hello_frame(const task_name& from = conform_worker, const task_name& to = conform_ps,
                               std::uint64_t incarnation = 7) {
  frame_head h;
  h.kind = static_cast<std::uint8_t>(link_kind::hello);
  return frame(h, encode(hello{wire_version, "test", from, to, incarnation, 0}));
}

inline endpoint_options quick(const task_name& self, std::uint64_t incarnation = 1) {
  endpoint_options o = options_of(self, incarnation);
  o.beat = 100ms;
  o.patience = 2s;
  o.handshake = 1s;
  return o;
}

// A task that listens, and whoever connects to it.
template <class Kind>
struct listening_task {
  std::unique_ptr<event_loop> loop = Kind::make_loop();
  endpoint at;
  std::function<std::shared_ptr<notes>()> make;
  std::mutex mutex;
  std::vector<std::shared_ptr<notes>> came;
  std::vector<std::shared_ptr<peer_link>> links;
  std::string address;

  explicit listening_task(
      endpoint_options o = quick(conform_ps),
      std::function<std::shared_ptr<notes>()> m = [] { return std::make_shared<notes>(); })
      : at(*loop, std::move(o)),
        make(std::move(m)) {
    at.add(Kind::make(*loop, conform_ps));
    address = at.listen(Kind::address(), [this](const peer_info&, const std::shared_ptr<peer_link>& l, std::string&) {
      const std::lock_guard lock(mutex);
      came.push_back(make());
      links.push_back(l);
      return came.back();
    });
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return came.size();
  }
  std::shared_ptr<notes> last() {
    const std::lock_guard lock(mutex);
    return came.empty() ? nullptr : came.back();
  }
  std::size_t link_count() {
    std::promise<std::size_t> n;
    loop->post([&] { n.set_value(at.links()); });
    return n.get_future().get();
  }
};

template <class Kind>
struct dialling_task {
  std::unique_ptr<event_loop> loop = Kind::make_loop();
  endpoint at;
  std::shared_ptr<notes> says = std::make_shared<notes>();
  std::shared_ptr<peer_link> link;

  explicit dialling_task(endpoint_options o = quick(conform_worker)) : at(*loop, std::move(o)) {
    at.add(Kind::make(*loop, at.options().self));
  }
  void connect(const std::string& address, const task_name& to = conform_ps, net_clock::duration patience = 20s) {
    link = at.connect(to, address, says, loop->now() + patience);
  }
};

template <class Kind>
void conform_pair_works(listening_task<Kind>& t, std::uint64_t incarnation = 100) {
  dialling_task<Kind> d(quick({"worker", 9}, incarnation));
  d.connect(t.address);
  REQUIRE(d.says->wait_up());
  d.link->send(head(3, 1), give(pattern(1000, 3)));
  const auto n = t.last();
  REQUIRE(n->wait_arrivals(1));
  CHECK(n->take_arrivals()[0].body == pattern(1000, 3));
}

// ---- the cases

template <class Kind>
void conform_order() {
  listening_task<Kind> t;
  dialling_task<Kind> d;
  d.connect(t.address);
  const bool up = d.says->wait_up();
  REQUIRE_MESSAGE(up, std::string(d.says->error() ? d.says->error()->what() : "no answer"));
  CHECK(d.says->peer().name == conform_ps);
  REQUIRE(t.last()->wait_up());
  CHECK(t.last()->peer().name == conform_worker);
  CHECK_FALSE(d.says->peer().via.empty());
  // Of one channel in order, whatever its size; both ways at the same time.
  const std::size_t sizes[] = {0, 1, 31, 4096, 16383, 16384, 16385, 65536};
  for (std::uint32_t i = 0; i < 400; ++i) {
    d.link->send(head(1 + i % 3, i), give(pattern(sizes[i % 8], i)));
    t.links.back()->send(head(1 + i % 3, i), give(pattern(sizes[(i + 3) % 8], i)));
  }
  const auto check = [&](notes& n, std::size_t shift) {
    REQUIRE(n.wait_arrivals(400));
    std::map<std::uint32_t, std::uint64_t> next;
    for (const auto& a : n.take_arrivals()) {
      auto [at, fresh] = next.try_emplace(a.head.channel, a.head.channel - 1);
      CHECK(a.head.step == at->second);
      at->second += 3;
      CHECK(a.body == pattern(sizes[(a.head.step + shift) % 8], a.head.step));
    }
  };
  check(*t.last(), 0);
  check(*d.says, 3);
}

template <class Kind>
void conform_large() {
  listening_task<Kind> t;
  dialling_task<Kind> d;
  d.connect(t.address);
  REQUIRE(d.says->wait_up());
  const auto large = pattern(20'000'003, 1), other = pattern(7'000'001, 2);
  tally done;
  d.link->send(head(1, 1), lend(large, &done));
  t.links.back()->send(head(1, 2), lend(other, &done));
  d.link->send(head(2, 3), lend(other, &done));
  REQUIRE(done.wait(3));
  CHECK(done.of(delivery::sent) == 3);
  REQUIRE(t.last()->wait_arrivals(2));
  REQUIRE(d.says->wait_arrivals(1));
  for (const auto& a : t.last()->take_arrivals()) CHECK((a.body == (a.head.step == 1 ? large : other)));
  CHECK((d.says->take_arrivals()[0].body == other));
}

// Who does not take what comes gets no more than its credit, and is not gone: beats go on.
template <class Kind>
void conform_slow_reader() {
  std::mutex mutex;
  std::vector<std::vector<std::byte>> aside;
  const auto room = [&](const frame_head& h) -> placement {
    const std::lock_guard lock(mutex);
    aside.emplace_back(h.bytes);
    return {placement::what::aside, aside.back().data()};
  };
  listening_task<Kind> t(quick(conform_ps), [&] { return std::make_shared<notes>(room); });
  dialling_task<Kind> d;
  d.connect(t.address);
  REQUIRE(d.says->wait_up());
  const std::size_t window = early_window / early_bytes;
  for (std::uint32_t i = 0; i < 3 * window; ++i) d.link->send(head(1 + i), give(pattern(early_bytes, i)));
  REQUIRE(t.last()->wait_arrivals(window));
  std::this_thread::sleep_for(300ms);  // several beats
  CHECK(t.last()->count() == window);
  CHECK(d.says->error() == nullptr);
  for (std::size_t given = 0; given < 3 * window; ++given) {
    REQUIRE(t.last()->wait_arrivals(std::min(given + 1, 3 * window)));
    t.links.back()->give_back(early_bytes);
  }
  CHECK(t.last()->wait_arrivals(3 * window));
}

// Somebody who has said HELLO and is then silent is gone after the patience of the other.
template <class Kind>
void conform_half_open() {
  listening_task<Kind> t;
  const auto loop = Kind::make_loop();
  stranger_at s(*loop, Kind::make(*loop, conform_worker));
  REQUIRE(s.dial(t.address));
  REQUIRE(s.shake().why.empty());
  s.write(hello_frame());
  REQUIRE(s.welcome());
  const auto n = t.last();
  REQUIRE(n != nullptr);
  REQUIRE(n->wait_down());
  CHECK(n->why() == problem::peer_silent);
  CHECK(t.link_count() == 0);
}

template <class Kind>
void conform_killed_mid_frame() {
  listening_task<Kind> t;
  const auto loop = Kind::make_loop();
  for (const std::size_t part : {std::size_t{5}, head_bytes, head_bytes + 100}) {
    stranger_at s(*loop, Kind::make(*loop, conform_worker));
    REQUIRE(s.dial(t.address));
    REQUIRE(s.shake().why.empty());
    s.write(hello_frame(conform_worker, conform_ps, 10 + part));
    REQUIRE(s.welcome());
    const auto n = t.last();
    REQUIRE(n->wait_up());
    s.write(frame(head(1, 1), std::string(500, 'x')).substr(0, part));
    s.close();
    REQUIRE(n->wait_down());
    CHECK(n->why() == problem::peer_lost);
    CHECK(n->count() == 0);
  }
  conform_pair_works(t);
}

template <class Kind>
void conform_garbage() {
  listening_task<Kind> t;
  const auto loop = Kind::make_loop();
  const std::string noise = [] {
    const auto p = pattern(5000, 77);
    return std::string(reinterpret_cast<const char*>(p.data()), p.size());
  }();
  // Instead of shaking hands, instead of HELLO, and behind it.
  for (int when = 0; when < 3; ++when) {
    stranger_at s(*loop, Kind::make(*loop, conform_worker));
    REQUIRE(s.dial(t.address));
    if (when > 0) REQUIRE(s.shake().why.empty());
    if (when == 2) {
      s.write(hello_frame());
      REQUIRE(s.welcome());
      REQUIRE(t.last()->wait_up());
    }
    if (when > 0 || !Kind::has_handshake) s.write(noise);
    if (when > 0 || !Kind::has_handshake) s.read_all();
    if (when == 2) {
      REQUIRE(t.last()->wait_down());
      CHECK(t.last()->why() == problem::peer_protocol);
    } else {
      CHECK(t.count() == 0);
    }
  }
  conform_pair_works(t);
}

// Nothing is allocated by what is announced: a payload of 1 TiB, an offer of it, a HELLO of 1 GiB.
template <class Kind>
void conform_giants() {
  std::atomic<std::uint64_t> asked{0};
  const auto refuse = [&](const frame_head& h) -> placement {
    asked = h.bytes;
    return {placement::what::refuse, nullptr};
  };
  listening_task<Kind> t(quick(conform_ps), [&] { return std::make_shared<notes>(refuse); });
  const auto loop = Kind::make_loop();
  for (int which = 0; which < 3; ++which) {
    stranger_at s(*loop, Kind::make(*loop, conform_worker));
    REQUIRE(s.dial(t.address));
    REQUIRE(s.shake().why.empty());
    frame_head giant = head(1, 1);
    giant.bytes = max_payload_bytes;
    if (which == 0) giant.flags = offered_flag;
    if (which < 2) {
      s.write(hello_frame(conform_worker, conform_ps, 20 + static_cast<std::uint64_t>(which)));
      REQUIRE(s.welcome());
      REQUIRE(t.last()->wait_up());
    } else {
      giant.kind = static_cast<std::uint8_t>(link_kind::hello);
      giant.bytes = std::uint64_t{1} << 30;
    }
    s.write(frame(giant));
    s.read_all();
    if (which < 2) {
      REQUIRE(t.last()->wait_down());
      CHECK(t.last()->why() == problem::peer_protocol);
    }
  }
  CHECK(asked == max_payload_bytes);
  CHECK(t.count() == 2);
}

// Who says nothing is shown out in time, whether it has shaken hands or not; and many of them keep nobody else out.
template <class Kind>
void conform_strangers(std::size_t many) {
  endpoint_options o = quick(conform_ps);
  o.strangers = 16;
  listening_task<Kind> t(o);
  const auto loop = Kind::make_loop();
  stranger_at quiet(*loop, Kind::make(*loop, conform_worker));
  REQUIRE(quiet.dial(t.address));
  const auto began = net_clock::now();
  quiet.read_all();
  CHECK(net_clock::now() - began < 10s);
  std::vector<std::unique_ptr<stranger_at>> crowd;
  for (std::size_t i = 0; i < many; ++i) {
    crowd.push_back(std::make_unique<stranger_at>(*loop, Kind::make(*loop, conform_worker)));
    crowd.back()->dial(t.address);
    if (i == many / 2) conform_pair_works(t, 200);
    if (crowd.size() > 100) crowd.erase(crowd.begin(), crowd.begin() + 50);
  }
  conform_pair_works(t, 201);
  CHECK(t.count() == 2);
}

template <class Kind>
void conform_another_start() {
  listening_task<Kind> t;
  dialling_task<Kind> first(quick(conform_worker, 10));
  first.connect(t.address);
  REQUIRE(first.says->wait_up());
  const auto seen = t.last();
  REQUIRE(seen->wait_up());
  dialling_task<Kind> second(quick(conform_worker, 11));
  second.connect(t.address);
  REQUIRE(second.says->wait_up());
  REQUIRE(seen->wait_down());
  CHECK(seen->why() == problem::peer_lost);
  REQUIRE(first.says->wait_down());
  first.says = std::make_shared<notes>();
  first.connect(t.address);
  REQUIRE(first.says->wait_down());
  CHECK(first.says->why() == problem::peer_refused);
  CHECK(second.says->error() == nullptr);
}

// Both ways to an end: in order, when all has arrived; and by who is gone.
template <class Kind>
void conform_ends() {
  listening_task<Kind> t;
  {
    dialling_task<Kind> d;
    d.connect(t.address);
    REQUIRE(d.says->wait_up());
    const auto n = t.last();
    const auto back = t.links.back();
    n->on_draining([back] { back->drain(); });
    for (std::uint32_t i = 0; i < 20; ++i) d.link->send(head(1, i), give(pattern(200'000, i)));
    std::promise<void> done;
    d.at.drain(d.loop->now() + 20s, [&] { done.set_value(); });
    done.get_future().wait();
    CHECK(n->wait_arrivals(20));
    REQUIRE(n->wait_down());
    CHECK(n->why() == problem::peer_drained);
    CHECK(d.says->why() == problem::peer_drained);
  }
  {
    dialling_task<Kind> d(quick(conform_worker, 3));
    d.connect(t.address);
    REQUIRE(d.says->wait_up());
  }
  REQUIRE(t.last()->wait_down());
  CHECK(t.last()->why() == problem::peer_lost);
}

template <class Kind>
void conform_nobody_there() {
  std::string address;
  {
    listening_task<Kind> t;
    address = t.address;
  }
  dialling_task<Kind> d;
  d.connect(address, conform_ps, 300ms);
  REQUIRE(d.says->wait_down());
  CHECK(d.says->why() == problem::peer_absent);
  const std::string what = d.says->error()->what();
  if (!Kind::is_passed_on) CHECK_MESSAGE(what.find("nobody listens there") != std::string::npos, what);
}

// Which case is run where: a doctest of its own for each, so that a failure names kind and case.
template <class Kind>
void conform(std::size_t many = 300) {
  SUBCASE("order") { conform_order<Kind>(); }
  SUBCASE("large payloads") { conform_large<Kind>(); }
  SUBCASE("slow reader") { conform_slow_reader<Kind>(); }
  SUBCASE("half open") { conform_half_open<Kind>(); }
  SUBCASE("killed in mid-frame") { conform_killed_mid_frame<Kind>(); }
  SUBCASE("garbage") { conform_garbage<Kind>(); }
  SUBCASE("giants") { conform_giants<Kind>(); }
  SUBCASE("strangers") { conform_strangers<Kind>(many); }
  SUBCASE("another start") { conform_another_start<Kind>(); }
  SUBCASE("ends") { conform_ends<Kind>(); }
  SUBCASE("nobody there") { conform_nobody_there<Kind>(); }
}

}  // namespace net_test
