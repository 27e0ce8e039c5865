// A link over a stream of bytes: HELLO, frames, credit, beats, the end in order or out of it. Everything but the outbox
// belongs to the loop. Whoever owns the link brings it a stream, and another one if that fails before the link is up.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/core/text_from.hpp>

#include "byte_stream.hpp"
#include "hello.hpp"
#include "inbox.hpp"
#include "transport.hpp"

namespace flowgraph::detail {

class stream_link;

struct link_times {
  net_clock::duration beat;      // nothing is silent for longer
  net_clock::duration patience;  // who is silent for longer is gone
};

class link_owner {
 public:
  // Somebody has connected and said who it is: its receiver; or nullptr, and why it is refused.
  virtual std::shared_ptr<link_receiver> admit(stream_link&, const peer_info&, std::string& why) = 0;
  // The stream ended before the link was up. False: there is no other, and the link goes down.
  virtual bool try_again(stream_link&, const stream_result&) = 0;
  virtual void is_up(stream_link&) = 0;
  virtual void is_down(stream_link&) = 0;

 protected:
  ~link_owner() = default;
};

class stream_link final : public peer_link, public std::enable_shared_from_this<stream_link> {
 public:
  // dials: this end has asked for the link, and says HELLO first.
  stream_link(event_loop& loop, link_owner& owner, const hello& own, bool dials, link_times times,
              std::shared_ptr<link_receiver> r)
      : loop_(loop),
        owner_(owner),
        own_(own),
        dials_(dials),
        times_(times),
        peer_{own.to, 0, 0, {}},
        receiver_(std::move(r)) {}

  const task_name& peer() const override { return peer_.name; }
  const peer_info& peer_facts() const { return peer_; }
  bool is_up() const { return state_ == state::up; }

  void send(const frame_head& h, payload p) override {
    outgoing o{h, std::move(p)};
    o.head.flags &= flags_of_users;
    o.head.bytes = o.body.bytes;
    const bool goes = with_outbox([&] {
      if (draining_) return false;
      out_.add(std::move(o));
      return true;
    });
    if (!goes) o.tell(delivery::link_down);
  }

  void take(const frame_head& h, std::byte* to) override {
    with_outbox([&] {
      inbox_.take(h, to);
      return true;
    });
  }
  void give_back(std::size_t bytes) override {
    with_outbox([&] {
      inbox_.give_back(bytes);
      return true;
    });
  }
  void drain() override {
    with_outbox([&] { return draining_ = true; });
  }
  void close(const std::string& why) override {
    const std::lock_guard lock(mutex_);  // or the loop might be gone
    if (!closed_) loop_.post([self = shared_from_this(), why] { self->fail(problem::link_closed, why); });
  }

  // Below: for the owner, on the loop.

  // The stream has shaken hands.
  void begin(stream_handle s) {
    stream_ = std::move(s);
    state_ = state::greeting;
    begin_ = end_ = 0;
    if (dials_)
      say(link_kind::hello, encode(own_), [](stream_link& l) { l.listen(); });
    else
      listen();
  }
  // Too late: before the link is up.
  void interrupt(const std::string& why) {
    if (state_ == state::greeting) broken({why, 0, false});
  }
  // Once; then it is down.
  void fail(problem why, const std::string& what) {
    if (state_ == state::down) return;
    const bool was_up = state_ == state::up;
    state_ = state::down;
    if (was_up && why == problem::peer_protocol && writing_.empty())
      last_word(what);
    else if (stream_)
      stream_->close();
    std::vector<outgoing> lost;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      lost = out_.take_all();
      inbox_.clear();
    }
    loop_.cancel(std::exchange(timer_, 0));
    for (const outgoing& o : writing_) o.tell(delivery::link_down);
    for (const outgoing& o : lost) o.tell(delivery::link_down);
    writing_.clear();
    const auto r = std::exchange(receiver_, nullptr);
    owner_.is_down(*this);
    if (r && (was_up || dials_)) r->down(peer_error(why, peer_.name, what));
  }

 private:
  enum class state { none, greeting, up, down };

  // ---- sending: any thread, under mutex_

  template <class F>
  auto locked(const F& f) {
    const std::lock_guard lock(mutex_);
    return f();
  }
  // Changes what is to be sent, and sees to it that it is. False: the link is down, or what has said so.
  template <class Change>
  bool with_outbox(const Change& change) {
    const bool here = loop_.here();
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || !change()) return false;
      if (!idle_ || std::exchange(flush_posted_, true)) return true;
      if (!here) loop_.post([self = shared_from_this()] { self->flush(); });
    }
    if (here) flush();
    return true;
  }
  // ---- writing: the loop

  void flush() {
    if (state_ == state::down) return;
    {
      const std::lock_guard lock(mutex_);
      flush_posted_ = false;
      if (state_ != state::up || !writing_.empty()) return;
      if (draining_ && !said_drain_ && out_.empty()) {
        out_.add(link_kind::drain);
        said_drain_ = true;
      }
      std::size_t bytes = 0;
      while (out_.has_ready() && writing_.size() < heads_.size() && bytes < max_write_bytes) {
        writing_.push_back(out_.take_ready());
        bytes += head_bytes + writing_.back().body.bytes;
      }
      idle_ = writing_.empty();  // else flush comes again when this has been written
    }
    if (writing_.empty()) {
      if (said_drain_ && peer_drained_) end_in_order();
      return;
    }
    std::array<std::span<const std::byte>, 2 * max_write_frames> parts;
    std::size_t n = 0;
    for (std::size_t i = 0; i < writing_.size(); ++i) {
      const outgoing& o = writing_[i];
      heads_[i] = encode(o.head);
      parts[n++] = heads_[i];
      if ((o.head.flags & offered_flag) == 0 && o.body.bytes > 0)
        parts[n++] = {static_cast<const std::byte*>(o.body.data), o.body.bytes};
    }
    wrote_ = loop_.now();
    stream_->write({parts.data(), n}, [self = shared_from_this()](const stream_result& r) { self->written(r); });
  }
  void written(const stream_result& r) {
    if (state_ == state::down) return;
    if (!r.why.empty()) return fail(problem::peer_lost, r.why);
    wrote_ = loop_.now();
    std::vector<outgoing> done;
    done.swap(writing_);
    for (const outgoing& o : done) o.tell(delivery::sent);
    done.clear();
    flush();
  }
  // Before the link is up, and as the last word: nothing else is written then.
  template <class Then>
  void say(link_kind kind, std::string text, Then then) {
    frame_head h;
    h.kind = static_cast<std::uint8_t>(kind);
    h.bytes = text.size();
    heads_[0] = encode(h);
    greeting_ = std::move(text);
    const std::array<std::span<const std::byte>, 2> parts{heads_[0], std::as_bytes(std::span(greeting_))};
    stream_->write(parts, [self = shared_from_this(), then](const stream_result& r) {
      if (self->state_ == state::down) return;
      if (r.why.empty())
        then(*self);
      else
        self->broken(r);
    });
  }

  // Tells a peer that can't be understood why it is left; not for long.
  void last_word(const std::string& what) {
    say(link_kind::refusal, what.substr(0, max_hello_bytes), [](stream_link&) {});
    loop_.at(loop_.now() + times_.beat, [self = shared_from_this()] { self->stream_->close(); });
  }

  // ---- reading: the loop

  void listen() {
    if (state_ == state::down) return;
    std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    // Strangers get no more room than HELLO needs.
    const std::size_t room = state_ == state::up ? in_.size() : head_bytes + max_hello_bytes;
    stream_->read(std::span(in_).subspan(end_, room - end_), 1, [self = shared_from_this()](const stream_result& r) {
      if (self->state_ == state::down) return;
      if (!r.why.empty()) return self->broken(r);
      self->heard_ = self->loop_.now();
      self->end_ += r.bytes;
      self->consume();
    });
  }
  // Frames, as far as they are here.
  void consume() {
    while (state_ == state::greeting || state_ == state::up) {
      if (end_ - begin_ < head_bytes) return listen();
      head_text t;
      std::memcpy(t.data(), in_.data() + begin_, head_bytes);
      frame_head h;
      if (!decode(t, h)) return malformed("what came is no frame");
      if (state_ == state::greeting) {
        if (h.bytes > max_hello_bytes) return malformed("it does not speak as tasks do");
        if (end_ - begin_ < head_bytes + h.bytes) return listen();
        const std::string_view text(reinterpret_cast<const char*>(in_.data()) + begin_ + head_bytes,
                                    static_cast<std::size_t>(h.bytes));
        begin_ += head_bytes + text.size();
        if (!greeted(h, text)) return;
        continue;
      }
      if (h.kind == static_cast<std::uint8_t>(link_kind::refusal)) {
        if (h.bytes > max_hello_bytes) return malformed("what came is no frame");
        if (end_ - begin_ < head_bytes + h.bytes) return listen();
        return fail(problem::peer_refused, "it has left, because " + printable(begin_ + head_bytes, h.bytes));
      }
      begin_ += head_bytes;
      if (!accept(h)) return;
    }
  }
  // Of another program: nothing that a terminal obeys.
  std::string printable(std::size_t at, std::uint64_t bytes) const {
    std::string words(reinterpret_cast<const char*>(in_.data()) + at,
                      static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 500)));
    std::replace_if(
        words.begin(), words.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return words;
  }
  void broken(const stream_result& r) {
    if (state_ == state::greeting) {
      stream_->close();
      state_ = state::none;
      if (!owner_.try_again(*this, r)) fail(r.refused ? problem::peer_refused : problem::peer_lost, r.why);
    } else if (said_drain_ && peer_drained_) {
      end_in_order();
    } else {
      fail(problem::peer_lost, r.why);
    }
  }
  void end_in_order() { fail(problem::peer_drained, "both ends have said that they send no more"); }
  void malformed(std::string_view what) { fail(problem::peer_protocol, std::string(what)); }

  // ---- HELLO

  bool greeted(const frame_head& h, std::string_view text) {
    if (dials_ && h.kind == static_cast<std::uint8_t>(link_kind::refusal)) {
      broken({"it refuses this task: " + printable(begin_ - text.size(), text.size()), 0, true});
      return false;
    }
    hello said;
    if (h.kind != static_cast<std::uint8_t>(link_kind::hello) || !decode(text, said)) {
      broken({"it does not speak as tasks do", 0, true});
      return false;
    }
    if (const std::string wrong = mistake_in(said, own_, dials_, stream_->proven()); !wrong.empty())
      return refuse(wrong);
    if (!dials_) peer_.name = said.from;  // else it is this already, and others may be reading it
    peer_.incarnation = said.incarnation;
    peer_.fingerprint = said.fingerprint;
    peer_.via = stream_->name();
    if (dials_) {
      become_up();
      return true;
    }
    own_.to = said.from;
    std::string why;
    receiver_ = owner_.admit(*this, peer_, why);
    if (!receiver_) return refuse(why);
    say(link_kind::hello, encode(own_), [](stream_link& l) {
      l.become_up();
      l.consume();
    });
    return false;
  }
  // Says why, and ends.
  bool refuse(const std::string& why) {
    if (dials_) {
      broken({why, 0, true});
    } else {
      say(link_kind::refusal, why.substr(0, max_hello_bytes),
          [why](stream_link& l) { l.fail(problem::peer_refused, why); });
    }
    return false;
  }
  void become_up() {
    state_ = state::up;
    in_.resize(head_bytes + early_bytes);
    heard_ = wrote_ = loop_.now();
    locked([&] { idle_ = true; });
    owner_.is_up(*this);
    if (state_ == state::up) receiver_->up(peer_);
    if (state_ != state::up) return;
    beat();
    flush();
  }
  void beat() {
    timer_ = loop_.at(loop_.now() + times_.beat / 2, [self = shared_from_this()] {
      if (self->state_ != state::up) return;
      const net_time now = self->loop_.now();
      if (now - self->heard_ > self->times_.patience)
        return self->fail(problem::peer_silent,
                          text_from({"it has been silent for ", seconds(now - self->heard_), " s"}));
      if (self->writing_.empty() && now - self->wrote_ >= self->times_.beat / 2) {
        self->locked([&] { self->out_.add(link_kind::beat); });
        self->flush();
      }
      self->beat();
    });
  }
  static std::string seconds(net_clock::duration d) {
    return fixed_digits(std::chrono::duration<double>(d).count(), 1);
  }

  // ---- frames; false: whoever has been called goes on, or nobody does

  bool accept(frame_head h) {
    if (h.kind < first_kind) return accept_own(h);
    const std::uint8_t way = h.flags & static_cast<std::uint8_t>(~flags_of_users);
    h.flags &= flags_of_users;
    if (way == granted_flag) return accept_granted(h);
    if (peer_drained_) return malformed("it had said that it sends no more"), false;
    if (way == offered_flag) return accept_offer(h);
    if (way != 0) return malformed("what came is no frame"), false;
    if (h.bytes == 0) {
      receiver_->arrived(h);
      return state_ == state::up;
    }
    if (h.bytes > early_bytes)
      return malformed(text_from({"a payload of ", h.bytes, " bytes comes without having been offered"})), false;
    const bool control = h.channel == control_channel;
    if (!control && !locked([&] { return inbox_.arrive(h.bytes); }))
      return malformed("more comes than there was credit for"), false;
    const placement p = receiver_->place(h);
    if (state_ != state::up) return false;
    if (p.where == placement::what::drop) return read_payload(h, nullptr, !control);
    if (p.where == placement::what::here || (p.where == placement::what::aside && !control))
      return read_payload(h, p.data, !control && p.where == placement::what::here);
    return refuse_payload(h);
  }
  bool accept_offer(const frame_head& h) {
    if (h.bytes <= early_bytes || h.channel == control_channel) return malformed("what came is no offer"), false;
    if (!locked([&] { return inbox_.offer(h); })) return malformed("it offers more than it may"), false;
    const placement p = receiver_->place(h);
    if (state_ != state::up) return false;
    if (p.where == placement::what::refuse) return refuse_payload(h);
    if (p.where == placement::what::later) return true;
    take(h, p.where == placement::what::drop ? nullptr : p.data);
    return true;
  }
  bool accept_granted(const frame_head& h) {
    std::byte* const to = locked([&] { return inbox_.granted(h); });
    if (to == nullptr) return malformed("a payload comes that nobody has taken"), false;
    return read_payload(h, to, false);
  }
  bool refuse_payload(const frame_head& h) {
    malformed(text_from({"a payload of ", h.bytes, " bytes on channel ", h.channel, " was refused"}));
    return false;
  }
  bool accept_own(const frame_head& h) {
    if (h.bytes != 0) return malformed("what came is no frame"), false;
    std::vector<outgoing> dropped;
    bool well = true;
    {
      const std::lock_guard lock(mutex_);
      switch (static_cast<link_kind>(h.kind)) {
        case link_kind::beat:
          break;
        case link_kind::credit:
          well = out_.credit(h.step);
          break;
        case link_kind::grant:
          well = out_.grant(h, dropped);
          break;
        case link_kind::hungry:
          inbox_.is_hungry();
          break;
        case link_kind::drain:
          well = !std::exchange(peer_drained_, true);
          break;
        default:
          well = false;
      }
    }
    if (!well) return malformed("what came is no frame"), false;
    for (const outgoing& o : dropped) o.tell(delivery::dropped);
    if (h.kind == static_cast<std::uint8_t>(link_kind::drain)) receiver_->draining();
    if (state_ == state::up) flush();
    return state_ == state::up;
  }

  // ---- payloads

  // to: nullptr: nowhere. credited: goes back to the sender's room as soon as it is here.
  bool read_payload(const frame_head& h, std::byte* to, bool credited) {
    const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(h.bytes, end_ - begin_));
    if (to != nullptr) std::memcpy(to, in_.data() + begin_, here);
    begin_ += here;
    if (here == h.bytes) return has_payload(h, to, credited);
    read_rest(h, to, here, credited);
    return false;
  }
  void read_rest(const frame_head& h, std::byte* to, std::size_t got, bool credited) {
    const auto rest = static_cast<std::size_t>(h.bytes) - got;
    // Whatever is long is called back now and then, so that its peer does not seem silent.
    const std::size_t least = std::min(rest, max_silent_bytes);
    begin_ = end_ = 0;  // the buffer is empty: nobody reads beyond the payload
    std::span<std::byte> room(in_.data(), std::min(rest, in_.size()));
    if (to != nullptr) room = {to + got, rest};
    stream_->read(room, std::min(least, room.size()),
                  [self = shared_from_this(), h, to, got, credited](const stream_result& r) {
                    if (self->state_ == state::down) return;
                    if (!r.why.empty()) return self->broken(r);
                    self->heard_ = self->loop_.now();
                    if (got + r.bytes < h.bytes) return self->read_rest(h, to, got + r.bytes, credited);
                    if (self->has_payload(h, to, credited)) self->consume();
                  });
  }
  bool has_payload(const frame_head& h, const std::byte* to, bool credited) {
    if (to != nullptr) receiver_->arrived(h);
    if (state_ != state::up) return false;
    if (credited) give_back(static_cast<std::size_t>(h.bytes));
    return state_ == state::up;
  }

  static constexpr std::size_t max_write_frames = 32;
  static constexpr std::size_t max_write_bytes = std::size_t{16} << 20;
  static constexpr std::size_t max_silent_bytes = std::size_t{256} << 10;

  event_loop& loop_;
  link_owner& owner_;
  hello own_;
  bool dials_;
  link_times times_;
  peer_info peer_;
  std::shared_ptr<link_receiver> receiver_;
  stream_handle stream_;
  state state_ = state::none;
  timer_id timer_ = 0;
  net_time heard_{}, wrote_{};
  std::vector<std::byte> in_ = std::vector<std::byte>(head_bytes + max_hello_bytes);
  std::size_t begin_ = 0, end_ = 0;  // of what is in it
  std::string greeting_;
  std::array<head_text, max_write_frames> heads_{};
  std::vector<outgoing> writing_;
  bool said_drain_ = false, peer_drained_ = false;

  std::mutex mutex_;
  outbox out_;
  inbox inbox_{out_};
  bool idle_ = false, flush_posted_ = false;  // nothing is being written; flush comes
  bool draining_ = false, closed_ = false;
};

}  // namespace flowgraph::detail
