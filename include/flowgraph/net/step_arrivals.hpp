// What comes from a peer, placed by what is known of its step here, and refused where it can't belong to one: nothing
// is allocated but by this task's own part of the plan, and what links let lie aside.
#pragma once
#include "step_board.hpp"

namespace flowgraph::detail {

inline void step_receiver::up(const peer_info&) {}
inline placement step_receiver::place(const frame_head& h) {
  afterwards then;
  const std::lock_guard lock(board_->mutex_);
  try {
    return board_->place(*this, h, then);
  } catch (const std::bad_alloc&) {
    return {};
  }
}
inline void step_receiver::arrived(const frame_head& h) {
  afterwards then;
  const std::lock_guard lock(board_->mutex_);
  if (board_->arrived(*this, h, then) || link_ == nullptr) return;
  then.also(
      [l = link_, text = text_from({"a frame of kind ", static_cast<int>(h.kind), " on channel ", h.channel, ", step ",
                                    h.step, ", turn ", h.turn, " does not belong to any step"})] { l->close(text); });
}
inline void step_receiver::down(const peer_error& e) {
  afterwards then;
  const std::lock_guard lock(board_->mutex_);
  board_->lose(*this, e, then);
}

inline std::shared_ptr<step_receiver> step_board::meet(const std::shared_ptr<step_board>& self, const task_name& peer) {
  afterwards then;
  auto r = std::make_shared<step_receiver>(self, peer);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<step_receiver>& at = peers_[peer];
  if (at != nullptr) {
    lose_early(peer, end_by(peer_error(problem::peer_lost, peer, "another connection has taken the place of this one")),
               then);
    if (at->link_ != nullptr)
      then.also([l = at->link_] { l->close("another connection has taken the place of this one"); });
  }
  at = r;
  return r;
}

// ---- of frames

inline const part_channels::way* step_board::way_of(const step_receiver& from, const frame_head& h, known_part*& part) {
  const auto found = parts_.find(h.session);
  if (found == parts_.end()) return nullptr;
  part = found->second.get();
  const std::vector<part_channels::way>& ways = part->channels.ways;
  if (h.channel == control_channel || h.channel > ways.size()) return nullptr;
  const part_channels::way& w = ways[h.channel - 1];
  return w.peer >= 0 && part->channels.peers[static_cast<std::size_t>(w.peer)] == from.peer_ ? &w : nullptr;
}
inline early_step* step_board::early_of(known_part& p, std::uint64_t step) {
  const auto found = p.early.find(step);
  if (found != p.early.end()) return &found->second;
  if (p.early.size() >= max_early_steps) return nullptr;
  early_step& e = p.early[step];
  e.ways.resize(p.channels.ways.size());
  return &e;
}
inline placement step_board::place(step_receiver& from, const frame_head& h, afterwards& then) {
  using what = placement::what;
  if (h.kind == static_cast<std::uint8_t>(step_kind::failed) && h.channel == control_channel &&
      h.bytes <= max_reason_bytes)
    return {what::here, from.reason_.data()};
  known_part* p = nullptr;
  const part_channels::way* const c = way_of(from, h, p);
  if (h.kind != static_cast<std::uint8_t>(step_kind::value) || c == nullptr || !c->arrives) return {};
  if (from.coming_.contains(place_key(h))) return {};
  if (const auto begun = p->begun.find(h.step); begun != p->begun.end()) {
    board_step& s = *begun->second;
    if (s.end || s.peers[static_cast<std::size_t>(c->peer)].get() != &from) return {what::drop};
    board_step::way& w = s.ways[h.channel - 1];
    if (h.turn != static_cast<std::uint32_t>(w.begun) || w.begun - w.done >= c->depth ||
        h.bytes != static_cast<std::uint64_t>(w.bytes))
      return {};
    from.coming_[place_key(h)].memory = s.landed;
    return {what::here, w.at + w.begun++ % c->depth * w.stride};
  }
  if (p->ended.has(h.step)) {
    tell(from.link_, h.session, h.step, {problem::peer_lost, "it has left this step"}, then);
    return {what::drop};
  }
  early_step* const e = early_of(*p, h.step);
  if (e == nullptr) return {};
  if (e->end) return {what::drop};
  early_step::way& w = e->ways[h.channel - 1];
  if (h.turn != static_cast<std::uint32_t>(w.placed) || w.placed >= c->depth) return {};
  if (h.bytes > early_bytes) {
    from.coming_[place_key(h)] = {};
    w.offered = true;
    w.offer = h;
    ++w.placed;
    return {what::later};
  }
  step_receiver::coming& to = from.coming_[place_key(h)];
  to = {std::make_shared_for_overwrite<std::byte[]>(static_cast<std::size_t>(h.bytes)), true};
  ++w.placed;
  return {what::aside, to.memory.get()};
}
inline bool step_board::arrived(step_receiver& from, const frame_head& h, afterwards& then) {
  switch (static_cast<step_kind>(h.kind)) {
    case step_kind::value:
      return value_arrived(from, h, then);
    case step_kind::taken:
      return was_taken(from, h, then);
    case step_kind::failed:
      return has_failed(from, h, then);
  }
  return false;
}
inline bool step_board::value_arrived(step_receiver& from, const frame_head& h, afterwards& then) {
  known_part* p = nullptr;
  const part_channels::way* const c = way_of(from, h, p);
  if (c == nullptr || !c->arrives) return false;
  auto came = from.coming_.extract(place_key(h));
  if (came.empty() != (h.bytes == 0)) return false;
  const bool aside = !came.empty() && came.mapped().aside;
  const auto leaves = [&] {
    if (aside)
      then.also([l = from.link_, n = static_cast<std::size_t>(h.bytes)] {
        if (l != nullptr) l->give_back(n);
      });
    return true;
  };
  if (const auto begun = p->begun.find(h.step); begun != p->begun.end()) {
    board_step& s = *begun->second;
    if (s.end || s.peers[static_cast<std::size_t>(c->peer)].get() != &from) return leaves();
    board_step::way& w = s.ways[h.channel - 1];
    if (h.bytes == 0) {
      if (w.bytes != 0 || h.turn != static_cast<std::uint32_t>(w.begun) || w.begun - w.done >= c->depth) return false;
      ++w.begun;
    } else if (aside) {  // it had been placed before the step began
      leaves();
      if (h.bytes != static_cast<std::uint64_t>(w.bytes)) return false;
      std::memcpy(w.at + w.there % c->depth * w.stride, came.mapped().memory.get(), static_cast<std::size_t>(h.bytes));
    }
    ++w.there;
    then.wake(w.waits);
    return true;
  }
  if (p->ended.has(h.step)) {
    if (h.bytes == 0) tell(from.link_, h.session, h.step, {problem::peer_lost, "it has left this step"}, then);
    return leaves();
  }
  early_step* const e = early_of(*p, h.step);
  if (e == nullptr) return false;
  if (e->end) return leaves();
  early_step::way& w = e->ways[h.channel - 1];
  if (h.bytes == 0) {
    if (h.turn != static_cast<std::uint32_t>(w.placed) || w.placed >= c->depth) return false;
    ++w.placed;
  }
  w.arrived.push_back({came.empty() ? nullptr : std::move(came.mapped().memory), h.bytes});
  return true;
}
inline bool step_board::was_taken(step_receiver& from, const frame_head& h, afterwards& then) {
  known_part* p = nullptr;
  const part_channels::way* const c = way_of(from, h, p);
  if (c == nullptr || c->arrives) return false;
  const auto begun = p->begun.find(h.step);
  if (begun == p->begun.end()) return p->ended.has(h.step);
  board_step& s = *begun->second;
  if (s.end || s.peers[static_cast<std::size_t>(c->peer)].get() != &from) return true;
  board_step::way& w = s.ways[h.channel - 1];
  if (h.turn != static_cast<std::uint32_t>(w.there) || w.there >= w.begun) return false;
  ++w.there;
  then.wake(w.waits);
  return true;
}
inline bool step_board::has_failed(step_receiver& from, const frame_head& h, afterwards& then) {
  const auto found = parts_.find(h.session);
  if (found == parts_.end() || h.channel != control_channel || !found->second->channels.has(from.peer_)) return false;
  known_part& p = *found->second;
  std::string text(reinterpret_cast<const char*>(from.reason_.data()), static_cast<std::size_t>(h.bytes));
  // Of another program: nothing that a terminal obeys.
  std::replace_if(
      text.begin(), text.end(), [](char x) { return static_cast<unsigned char>(x) < ' ' && x != '\n'; }, '?');
  const step_end why = end_told(from.peer_, problem_of(h.turn), text);
  if (const auto begun = p.begun.find(h.step); begun != p.begun.end()) {
    board_step& s = *begun->second;
    if (std::any_of(s.peers.begin(), s.peers.end(), [&](const auto& r) { return r.get() == &from; }))
      end_now(h.session, h.step, s, why, &from, then);
    return true;
  }
  if (p.ended.has(h.step)) return true;
  early_step* const e = early_of(p, h.step);
  if (e == nullptr) return false;
  if (!e->end) {
    drop(p, *e, then);
    e->end = why;
  }
  return true;
}

}  // namespace flowgraph::detail
