// The sending half of a link: which frame goes next. A frame waits for those of its channel in front of it, a payload
// for room at the receiver; what must not wait for either is control. Knows nothing of streams and threads: its link
// guards it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "transport.hpp"

namespace flowgraph::detail {

// Frames that links send each other. `step` of credit is a number of bytes; grant has session and channel of the offer.
enum class link_kind : std::uint8_t { hello = 1, refusal, beat, grant, credit, hungry, drain };
inline constexpr std::uint8_t offered_flag = 0x80;  // the payload waits for a grant
inline constexpr std::uint8_t granted_flag = 0x40;  // the payload that was offered follows
inline constexpr std::uint8_t dropped_flag = 0x20;  // of a grant: nobody wants it
// So many payloads may be offered at the same time.
inline constexpr std::size_t max_offers = 4096;

struct channel_key {
  std::uint16_t session;
  std::uint32_t channel;
  auto operator<=>(const channel_key&) const = default;
};
inline channel_key key_of(const frame_head& h) { return {h.session, h.channel}; }

struct outgoing {
  frame_head head;
  payload body;
  bool last = true;  // of what its sender is told about

  void tell(delivery d) const {
    if (!last || body.listener == nullptr) return;
    frame_head h = head;
    h.flags &= flags_of_users;
    body.listener->sent(h, d);
  }
};

class outbox {
 public:
  void add(outgoing o) {
    const auto waiting = waiting_.find(key_of(o.head));
    if (waiting != waiting_.end()) {
      waiting->second.push_back(std::move(o));
    } else if (!admit(o)) {
      waiting_[key_of(o.head)].push_back(std::move(o));
    }
  }
  // A frame of the link's own.
  void add(link_kind kind, const frame_head& about = {}, std::uint8_t flags = 0) {
    frame_head h = about;
    h.kind = static_cast<std::uint8_t>(kind);
    h.flags = flags;
    h.bytes = 0;
    ready_.push_back({h, {}});
  }

  // The receiver has room for what was offered; or has dropped it, which is given. False: nothing was offered.
  bool grant(const frame_head& g, std::vector<outgoing>& dropped) {
    const auto found = waiting_.find(key_of(g));
    if (found == waiting_.end() || (found->second.front().head.flags & offered_flag) == 0) return false;
    outgoing o = std::move(found->second.front());
    found->second.pop_front();
    --offers_;
    if ((g.flags & dropped_flag) != 0) {
      o.head.flags &= flags_of_users;
      dropped.push_back(std::move(o));
    } else {
      o.head.flags = static_cast<std::uint8_t>((o.head.flags & flags_of_users) | granted_flag);
      ready_.push_back(std::move(o));
    }
    advance(found);
    if (offers_ + 1 == max_offers) advance_all();
    return true;
  }
  // False: more than is out.
  bool credit(std::uint64_t bytes) {
    if (bytes > early_window - room_) return false;
    room_ += bytes;
    hungry_ = false;
    advance_all();
    return true;
  }

  bool has_ready() const { return !ready_.empty(); }
  bool empty() const { return ready_.empty() && waiting_.empty(); }
  outgoing take_ready() {
    outgoing o = std::move(ready_.front());
    ready_.pop_front();
    return o;
  }
  // Everything that was not sent.
  std::vector<outgoing> take_all() {
    std::vector<outgoing> all(std::move_iterator(ready_.begin()), std::move_iterator(ready_.end()));
    for (auto& [key, q] : waiting_) all.insert(all.end(), std::move_iterator(q.begin()), std::move_iterator(q.end()));
    ready_.clear();
    waiting_.clear();
    return all;
  }

 private:
  using frames = std::map<channel_key, std::deque<outgoing>>;

  // Into ready_, if it may go; an offer of it otherwise, once.
  bool admit(outgoing& o) {
    if (o.head.channel == control_channel || o.head.bytes == 0) {
      ready_.push_back(std::move(o));
      return true;
    }
    if (o.head.bytes <= early_bytes) {
      if (o.head.bytes > room_) {
        if (!std::exchange(hungry_, true)) add(link_kind::hungry);
        return false;
      }
      room_ -= o.head.bytes;
      ready_.push_back(std::move(o));
      return true;
    }
    if ((o.head.flags & offered_flag) == 0 && offers_ < max_offers) {
      ++offers_;
      o.head.flags |= offered_flag;
      ready_.push_back({o.head, {}, false});
    }
    return false;
  }
  // What may go of a channel's frames; gives the next channel.
  frames::iterator advance(frames::iterator at) {
    while (!at->second.empty() && admit(at->second.front())) at->second.pop_front();
    return at->second.empty() ? waiting_.erase(at) : std::next(at);
  }
  // Beginning behind the channel that went first last time.
  void advance_all() {
    const channel_key first = last_first_;
    bool begun = false;
    for (auto at = waiting_.upper_bound(first); at != waiting_.end();) {
      if (!std::exchange(begun, true)) last_first_ = at->first;
      at = advance(at);
    }
    for (auto at = waiting_.begin(); at != waiting_.end() && at->first <= first;) {
      if (!std::exchange(begun, true)) last_first_ = at->first;
      at = advance(at);
    }
  }

  std::deque<outgoing> ready_;  // in this order
  frames waiting_;              // for credit or a grant, each behind the first of its channel
  std::uint64_t room_ = early_window;
  std::size_t offers_ = 0;
  bool hungry_ = false;
  channel_key last_first_{};
};

}  // namespace flowgraph::detail
