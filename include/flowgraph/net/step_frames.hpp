// What tasks tell each other of a step that they run parts of: three kinds of frames, and what each end keeps of steps
// that it has not begun, or has ended.
//
//   value   channel + 1, turn     what a send gives; its bytes are the payload
//   taken   channel + 1, turn     back from the receiver: there is room for another turn
//   failed  control_channel       the step has failed; `turn` says which problem, the payload why, in words
//
// Each has the number of the step, and its session: which plan, as both ends have agreed before.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/core/hash.hpp>
#include <flowgraph/engine/rendezvous/rendezvous.hpp>
#include <flowgraph/graph/device.hpp>

#include "peer_error.hpp"
#include "transport.hpp"

namespace flowgraph::detail {

enum class step_kind : std::uint8_t { value = first_kind, taken, failed };

// Longer ones are cut.
inline constexpr std::size_t max_reason_bytes = 4096;

// Problems have other numbers in other versions of the library; their sentences say the same.
inline std::uint32_t code_of(problem why) { return static_cast<std::uint32_t>(hash(sentence(why))); }
inline problem problem_of(std::uint32_t code) {
  static constexpr problem all[] = {
#define FLOWGRAPH_PROBLEM(name, sentence) problem::name,
      FLOWGRAPH_PROBLEMS(FLOWGRAPH_PROBLEM)
#undef FLOWGRAPH_PROBLEM
  };
  const auto found = std::find_if(std::begin(all), std::end(all), [&](problem p) { return code_of(p) == code; });
  return found == std::end(all) ? problem::kernel_failed : *found;
}

// Is it about the way to a task, not about what one does?
constexpr bool is_about_peers(problem why) {
  return why == problem::peer_absent || why == problem::peer_refused || why == problem::peer_lost ||
         why == problem::peer_silent || why == problem::peer_protocol || why == problem::peer_drained ||
         why == problem::link_closed;
}

// Why a step is over before its end.
struct step_end {
  problem why = problem::none;
  std::string reason;
  std::shared_ptr<const peer_error> lost = nullptr;  // what is thrown instead

  explicit operator bool() const { return why != problem::none; }
  [[noreturn]] void refuse() const {
    if (lost != nullptr) throw peer_error(*lost);
    abort_reason r;
    r.set(why, reason);
    r.refuse();
  }
};
inline step_end end_by(const peer_error& e) { return {e.why(), e.what(), std::make_shared<peer_error>(e)}; }
// As `teller` has said it.
inline step_end end_told(const task_name& teller, problem why, std::string_view text) {
  if (is_about_peers(why)) return end_by(peer_error(why, teller, text));
  return {why, teller.text() + ": " + std::string(text)};
}

// A payload with bytes of its own: copied once, so that a step that ends needs nothing back from a link.
inline payload copy_of(const void* data, std::size_t bytes) {
  std::shared_ptr<std::byte[]> own = std::make_shared_for_overwrite<std::byte[]>(bytes);
  if (bytes > 0) std::memcpy(own.get(), data, bytes);
  return {own.get(), bytes, own};
}

// The channels of a part that lead to other tasks.
struct part_channels {
  struct way {
    int peer = -1;  // of `peers`; -1: it does not leave this task, or is not of it
    bool arrives = false;
    int depth = 0;
  };
  std::vector<way> ways;
  std::vector<task_name> peers;

  explicit part_channels(const plan_view& part) {
    for (const channel& c : part.channels) {
      way w;
      if (is_elsewhere(c)) {
        w.arrives = c.receive >= 0;
        w.depth = depth_of(part, c);
        w.peer = peer_at(part.text(part.devices[w.arrives ? c.from : c.to]));
      }
      ways.push_back(w);
    }
  }
  bool has(const task_name& t) const { return std::find(peers.begin(), peers.end(), t) != peers.end(); }

 private:
  int peer_at(std::string_view device) {
    const device_name d = parse_own_device(device);
    const task_name t{std::string(d.job), d.task};
    const auto at = std::find(peers.begin(), peers.end(), t);
    if (at != peers.end()) return static_cast<int>(at - peers.begin());
    peers.push_back(t);
    return static_cast<int>(peers.size()) - 1;
  }
};

// The last steps that have ended, so that what comes late for them is known. Of earlier ones, all that is below the
// newest forgotten number counts as ended: numbers of a session ascend, though not without exception.
class ended_steps {
 public:
  void add(std::uint64_t step) noexcept {
    std::uint64_t& at = last_[next_++ % last_.size()];
    floor_ = std::max(floor_, at);
    at = step + 1;
  }
  bool has(std::uint64_t step) const noexcept {
    return step + 1 <= floor_ || std::find(last_.begin(), last_.end(), step + 1) != last_.end();
  }

 private:
  std::array<std::uint64_t, 1024> last_{};  // + 1; 0: none
  std::size_t next_ = 0;
  std::uint64_t floor_ = 0;
};

// Of a step that has not begun here: what has come for it. All of it is bounded before it comes: by turns, by what a
// link lets lie aside, and by max_early_steps.
struct early_step {
  struct value {
    std::shared_ptr<std::byte[]> body;
    std::uint64_t bytes;
  };
  struct way {
    std::int64_t placed = 0;
    std::vector<value> arrived;
    bool offered = false;  // the last of those placed, which waits for a place
    frame_head offer;
  };
  std::vector<way> ways;
  step_end end;  // it has failed elsewhere
};
inline constexpr std::size_t max_early_steps = 1024;

}  // namespace flowgraph::detail
