// The receiving half of a link, as far as it is bookkeeping: what the peer has offered, how much of its room is taken,
// what goes back to it. Knows nothing of streams and threads: its link guards it, with the outbox that it answers by.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "outbox.hpp"

namespace flowgraph::detail {

class inbox {
 public:
  explicit inbox(outbox& out) : out_(out) {}

  // False: it offers more than it may.
  bool offer(const frame_head& h) {
    return offers_.size() < max_offers && offers_.try_emplace(key_of(h), h, nullptr).second;
  }
  // Where what was offered goes; nullptr: nowhere. Nothing, if it is not waiting for that.
  void take(const frame_head& h, std::byte* to) {
    const auto found = offers_.find(key_of(h));
    if (found == offers_.end() || found->second.to != nullptr) return;
    out_.add(link_kind::grant, found->second.head, to != nullptr ? std::uint8_t{0} : dropped_flag);
    if (to != nullptr)
      found->second.to = to;
    else
      offers_.erase(found);
  }
  // Where that goes which comes now; nullptr: nobody has taken it.
  std::byte* granted(const frame_head& h) {
    const auto found = offers_.find(key_of(h));
    if (found == offers_.end() || found->second.head != h || found->second.to == nullptr) return nullptr;
    std::byte* const to = found->second.to;
    offers_.erase(found);
    return to;
  }

  // So many bytes come early. False: more than there is room for, which the sender counts in the same way.
  bool arrive(std::uint64_t bytes) {
    if (bytes > early_window - taken_) return false;
    taken_ += bytes;
    return true;
  }
  // They have left. Their room goes back in large pieces, or at once where the sender waits for it.
  void give_back(std::uint64_t bytes) {
    taken_ -= std::min(bytes, taken_);
    owed_ += bytes;
    if (owed_ >= early_window / 4 || hungry_) pay();
  }
  void is_hungry() {
    hungry_ = true;
    if (owed_ > 0) pay();
  }

  void clear() { offers_.clear(); }

 private:
  struct offered {
    frame_head head;
    std::byte* to;  // nullptr: not taken yet
  };

  void pay() {
    frame_head c;
    c.step = std::exchange(owed_, 0);
    hungry_ = false;
    out_.add(link_kind::credit, c);
  }

  outbox& out_;
  std::map<channel_key, offered> offers_;
  std::uint64_t taken_ = 0, owed_ = 0;
  bool hungry_ = false;
};

}  // namespace flowgraph::detail
