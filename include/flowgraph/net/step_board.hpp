// Who meets whom: the parts of plans that this task runs, their steps, and the links to the tasks that run the others.
// What comes over those is step_arrivals.hpp's.
#pragma once
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <flowgraph/core/text_from.hpp>

#include "step_frames.hpp"

namespace flowgraph::detail {

class step_receiver;

// A running step at this end, as the board sees it.
struct board_step {
  struct way {
    std::int64_t bytes = 0, stride = 0;
    std::byte* at = nullptr;  // where values land
    std::int64_t begun = 0;   // turns sent, or placed
    std::int64_t there = 0;   // turns that the peer has taken, or that have arrived
    std::int64_t done = 0;    // turns received
    waiter* waits = nullptr;  // at this end of the channel
  };
  std::vector<way> ways;
  std::shared_ptr<std::byte[]> landed;                // what `at` points into
  std::vector<std::shared_ptr<step_receiver>> peers;  // those that it began with, as the part has them
  step_end end;
};

// What is done when nothing is locked any more.
class afterwards {
 public:
  afterwards() = default;
  afterwards(const afterwards&) = delete;
  afterwards& operator=(const afterwards&) = delete;
  ~afterwards() { run(); }

  void wake(waiter*& w) noexcept { woken_ = std::exchange(w, nullptr); }
  template <class F>
  void also(F f) {
    rest_.push_back(std::move(f));
  }
  void run() noexcept {
    if (waiter* const w = std::exchange(woken_, nullptr)) w->wake();
    for (const auto& f : std::exchange(rest_, {})) try {
        f();
      } catch (...) {  // no memory to send by: whoever waits for it has a deadline
      }
  }

 private:
  waiter* woken_ = nullptr;
  std::vector<std::function<void()>> rest_;
};

class step_board {
 public:
  using link = std::shared_ptr<peer_link>;

  struct known_part {
    explicit known_part(const plan_view& p) : channels(p) {}
    part_channels channels;
    std::map<std::uint64_t, board_step*> begun;
    std::map<std::uint64_t, early_step> early;
    ended_steps ended;
  };

  // ---- of this task

  // Both ends say the same number of the same plan.
  void add(std::uint16_t session, const plan_view& part) {
    const std::lock_guard lock(mutex_);
    auto p = std::make_unique<known_part>(part);
    for (const task_name& t : p->channels.peers)
      if (!is_task(t))
        throw argument_error(problem::peer_absent, {t.text(), " is no task: ", sentence(problem::peer_absent)});
    if (!parts_.emplace(session, std::move(p)).second)
      throw argument_error(problem::invalid_plan, {text_from({"session ", session, " has its plan"})});
    sessions_[part.channels.data] = session;
  }
  std::optional<std::uint16_t> session_of(const plan_view& part) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(part.channels.data);
    return found == sessions_.end() ? std::nullopt : std::optional(found->second);
  }
  inline std::shared_ptr<step_receiver> meet(const std::shared_ptr<step_board>& self, const task_name& peer);
  inline void close();

  const part_channels& channels_of(std::uint16_t session) {
    const std::lock_guard lock(mutex_);
    return parts_.at(session)->channels;
  }
  inline void begin(std::uint16_t session, std::uint64_t step, board_step& s);
  inline void end(std::uint16_t session, std::uint64_t step, board_step& s) noexcept;
  // The step has failed at this end, whether it has begun or not. The first reason stays.
  inline void fail(std::uint16_t session, std::uint64_t step, problem why, std::string_view reason);

  std::mutex& mutex() { return mutex_; }
  // Of a peer that a step began with; null: it is gone.
  inline link link_to(const board_step& s, int peer);

 private:
  friend class step_receiver;

  static std::pair<std::uint16_t, std::uint32_t> place_key(const frame_head& h) { return {h.session, h.channel}; }

  // The way that a frame belongs to; nullptr: it can't.
  inline const part_channels::way* way_of(const step_receiver& from, const frame_head& h, known_part*& part);
  inline early_step* early_of(known_part& p, std::uint64_t step);
  inline placement place(step_receiver& from, const frame_head& h, afterwards& then);
  // False: it can't be.
  inline bool arrived(step_receiver& from, const frame_head& h, afterwards& then);
  inline bool value_arrived(step_receiver& from, const frame_head& h, afterwards& then);
  inline bool was_taken(step_receiver& from, const frame_head& h, afterwards& then);
  inline bool has_failed(step_receiver& from, const frame_head& h, afterwards& then);
  inline void lose(step_receiver& from, const peer_error& e, afterwards& then);
  inline void lose_early(const task_name& peer, const step_end& why, afterwards& then);
  inline void drop(known_part& p, early_step& e, afterwards& then);
  inline void end_now(std::uint16_t session, std::uint64_t step, board_step& s, step_end why,
                      const step_receiver* told_by, afterwards& then);
  inline void wake_all(std::uint16_t session, std::uint64_t step) noexcept;
  inline void tell(const link& to, std::uint16_t session, std::uint64_t step, const step_end& why, afterwards& then);

  std::mutex mutex_;
  std::map<std::uint16_t, std::unique_ptr<known_part>> parts_;
  std::map<const void*, std::uint16_t> sessions_;
  std::map<task_name, std::shared_ptr<step_receiver>> peers_;
};

// Takes what one peer says of steps, over one link.
class step_receiver final : public link_receiver {
 public:
  step_receiver(std::shared_ptr<step_board> b, task_name peer) : board_(std::move(b)), peer_(std::move(peer)) {}

  // Where answers go: before the first step.
  void goes_over(std::shared_ptr<peer_link> l) {
    const std::lock_guard lock(board_->mutex_);
    if (!down_) link_ = std::move(l);
  }

  void up(const peer_info&) override;
  placement place(const frame_head& h) override;
  void arrived(const frame_head& h) override;
  void down(const peer_error& e) override;

 private:
  friend class step_board;

  // What is on its way to a place, one for each channel.
  struct coming {
    std::shared_ptr<std::byte[]> memory;  // stays until it has come
    bool aside = false;
  };

  const std::shared_ptr<step_board> board_;
  const task_name peer_;
  std::shared_ptr<peer_link> link_;
  bool down_ = false;
  std::map<std::pair<std::uint16_t, std::uint32_t>, coming> coming_;
  std::array<std::byte, max_reason_bytes> reason_;
};

// ---- of this task

inline void step_board::close() {
  std::map<task_name, std::shared_ptr<step_receiver>> gone;
  const std::lock_guard lock(mutex_);
  gone.swap(peers_);
}

inline void step_board::begin(std::uint16_t session, std::uint64_t step, board_step& s) {
  afterwards then;
  const std::lock_guard lock(mutex_);
  known_part& p = *parts_.at(session);
  const part_channels& channels = p.channels;
  s.end = {};
  s.peers.assign(channels.peers.size(), nullptr);
  step_end end;
  for (std::size_t i = 0; i < s.peers.size(); ++i) {
    const auto found = peers_.find(channels.peers[i]);
    if (found != peers_.end()) s.peers[i] = found->second;
    if (!end && (s.peers[i] == nullptr || s.peers[i]->link_ == nullptr))
      end = end_by(peer_error(problem::peer_absent, channels.peers[i], "there is no connection to it"));
  }
  if (p.ended.has(step)) end = {problem::cancelled, std::string(sentence(problem::cancelled))};
  auto early = p.early.extract(step);
  p.begun[step] = &s;
  if (!early.empty() && early.mapped().end) end = early.mapped().end;
  if (end) {
    if (!early.empty()) drop(p, early.mapped(), then);
    return end_now(session, step, s, std::move(end), nullptr, then);
  }
  if (early.empty()) return;
  for (std::size_t k = 0; k < channels.ways.size(); ++k) {
    early_step::way& from = early.mapped().ways[k];
    if (from.placed == 0) continue;
    board_step::way& w = s.ways[k];
    const int depth = channels.ways[k].depth;
    const std::shared_ptr<step_receiver>& peer = s.peers[static_cast<std::size_t>(channels.ways[k].peer)];
    const auto fits = [&](std::uint64_t bytes) {
      if (bytes == static_cast<std::uint64_t>(w.bytes)) return true;
      then.also([l = peer->link_, text = text_from({"a value of ", bytes, " bytes came on channel ", k + 1, ", not ",
                                                    w.bytes})] { l->close(text); });
      return false;
    };
    for (const early_step::value& v : from.arrived) {
      if (fits(v.bytes)) {
        if (v.bytes > 0)
          std::memcpy(w.at + w.there % depth * w.stride, v.body.get(), static_cast<std::size_t>(v.bytes));
        ++w.there;
      }
      if (v.bytes > 0) then.also([l = peer->link_, n = static_cast<std::size_t>(v.bytes)] { l->give_back(n); });
    }
    w.begun = from.placed;
    if (!from.offered || !fits(from.offer.bytes)) continue;
    std::byte* const to = w.at + (w.begun - 1) % depth * w.stride;
    peer->coming_[place_key(from.offer)].memory = s.landed;
    then.also([l = peer->link_, h = from.offer, to] { l->take(h, to); });
  }
}
inline void step_board::end(std::uint16_t session, std::uint64_t step, board_step& s) noexcept {
  const std::lock_guard lock(mutex_);
  known_part& p = *parts_.at(session);
  const auto found = p.begun.find(step);
  if (found == p.begun.end() || found->second != &s) return;
  p.begun.erase(found);
  p.ended.add(step);
}
inline void step_board::fail(std::uint16_t session, std::uint64_t step, problem why, std::string_view reason) {
  afterwards then;
  const std::lock_guard lock(mutex_);
  known_part& p = *parts_.at(session);
  if (const auto found = p.begun.find(step); found != p.begun.end())
    return end_now(session, step, *found->second, {why, std::string(reason)}, nullptr, then);
  if (p.ended.has(step)) return;
  p.ended.add(step);
  if (auto early = p.early.extract(step)) drop(p, early.mapped(), then);
  for (const task_name& t : p.channels.peers)
    if (const auto found = peers_.find(t); found != peers_.end())
      tell(found->second->link_, session, step, {why, std::string(reason)}, then);
}
inline step_board::link step_board::link_to(const board_step& s, int peer) {
  const auto& r = s.peers[static_cast<std::size_t>(peer)];
  return r == nullptr ? nullptr : r->link_;
}

// ---- of steps that end

inline void step_board::end_now(std::uint16_t session, std::uint64_t step, board_step& s, step_end why,
                                const step_receiver* told_by, afterwards& then) {
  if (s.end) return;
  s.end = std::move(why);
  then.also([this, session, step] { wake_all(session, step); });
  for (const auto& r : s.peers)
    if (r != nullptr && r.get() != told_by) tell(r->link_, session, step, s.end, then);
}
// One after another: with the last wake-up the step may be gone.
inline void step_board::wake_all(std::uint16_t session, std::uint64_t step) noexcept {
  for (;;) {
    waiter* w = nullptr;
    {
      const std::lock_guard lock(mutex_);
      known_part& p = *parts_.at(session);
      const auto found = p.begun.find(step);
      if (found == p.begun.end()) return;
      for (board_step::way& x : found->second->ways)
        if (w == nullptr) w = std::exchange(x.waits, nullptr);
    }
    if (w == nullptr) return;
    w->wake();
  }
}
inline void step_board::tell(const link& to, std::uint16_t session, std::uint64_t step, const step_end& why,
                             afterwards& then) {
  if (to == nullptr) return;
  frame_head h;
  h.kind = static_cast<std::uint8_t>(step_kind::failed);
  h.session = session;
  h.step = step;
  h.turn = code_of(why.why);
  then.also(
      [to, h, body = copy_of(why.reason.data(), std::min(why.reason.size(), max_reason_bytes))] { to->send(h, body); });
}
inline void step_board::drop(known_part& p, early_step& e, afterwards& then) {
  for (std::size_t k = 0; k < e.ways.size(); ++k) {
    const early_step::way& w = e.ways[k];
    if (w.placed == 0) continue;
    const auto found = peers_.find(p.channels.peers[static_cast<std::size_t>(p.channels.ways[k].peer)]);
    if (found == peers_.end() || found->second->link_ == nullptr) continue;
    std::size_t aside = 0;
    for (const early_step::value& v : w.arrived) aside += static_cast<std::size_t>(v.bytes);
    if (aside > 0) then.also([l = found->second->link_, aside] { l->give_back(aside); });
    if (!w.offered) continue;
    found->second->coming_.erase(place_key(w.offer));
    then.also([l = found->second->link_, h = w.offer] { l->take(h, nullptr); });
  }
  e.ways.clear();
}
inline void step_board::lose_early(const task_name& peer, const step_end& why, afterwards& then) {
  for (auto& [session, p] : parts_) {
    if (!p->channels.has(peer)) continue;
    for (auto& [step, e] : p->early) {
      if (e.end) continue;
      drop(*p, e, then);
      e.end = why;
    }
  }
}
inline void step_board::lose(step_receiver& from, const peer_error& e, afterwards& then) {
  from.down_ = true;
  from.coming_.clear();
  if (from.link_ != nullptr) then.also([l = std::exchange(from.link_, nullptr)] {});
  const step_end why = end_by(e);
  const auto at = peers_.find(from.peer_);
  if (at != peers_.end() && at->second.get() == &from) lose_early(from.peer_, why, then);
  for (auto& [session, p] : parts_)
    for (auto& [step, s] : p->begun)
      if (std::any_of(s->peers.begin(), s->peers.end(), [&](const auto& r) { return r.get() == &from; }))
        end_now(session, step, *s, why, nullptr, then);
}

}  // namespace flowgraph::detail
