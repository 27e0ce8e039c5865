// Where devices meet: what one sends another receives, known by step, channel and turn, whoever comes first. Nothing
// else connects devices. Ends of channels are attempts, which wait as those of queues do, so that a step knows nothing
// of how values travel: within this memory (local.hpp), or to another process.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <flowgraph/core/error.hpp>
#include <flowgraph/engine/threads/parking.hpp>
#include <flowgraph/plan/bind.hpp>
#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph::detail {

// What a rendezvous is told of a step.
struct rendezvous_step {
  std::uint64_t number = 0;  // the same at all ends, and another one for each step
  // By channel: where its values land, `depth_of` of them, slot_alignment apart, that of turn n in place n % depth.
  // Until it is received nobody else writes there. Of no type: nothing lands here.
  std::span<const array_view> landings;
};

// Of one step at a time. Each end of a channel has one attempt, begun again in every turn: the n-th time is turn n. An
// attempt's operands are those of its instruction, known when it begins and the same when it is finished.
//
// A sender that is not done has its operand to itself; one that is done may see it overwritten. It is done without a
// receiver as long as no more than `depth_of` turns are on their way, and otherwise waits: whatever a transport keeps
// of a channel is bounded by that. A receiver is done when its value has landed; to finish it copies to its result,
// unless that is the landing itself.
class rendezvous {
 public:
  rendezvous() = default;
  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;
  virtual ~rendezvous() = default;

  // Once for each end that is here, before the first step. The rendezvous outlives them.
  virtual std::unique_ptr<attempt> sender(int channel) = 0;
  virtual std::unique_ptr<attempt> receiver(int channel) = 0;

  // A step begins, and the landings are its own. Another end may have begun it before, and have sent. May throw.
  virtual void begin(const rendezvous_step& s) = 0;
  // The step has failed at this end: attempts that wait, here and at all others, are woken, and throw this reason when
  // they are finished, as do those that begin later. The first reason stays. From any thread.
  virtual void abort(problem why, std::string_view reason) noexcept = 0;
  // The step is over at this end, or has never begun: nobody is woken and no memory of the step is touched any more.
  // What another end sends for it from now on is dropped.
  virtual void end() noexcept = 0;
};

// Gives a rendezvous to each workspace of a plan, for the channels whose other end is elsewhere.
class rendezvous_source {
 public:
  virtual ~rendezvous_source() = default;
  // part: the plan, which outlives the result; of channels it has one end, both, or none. Throws what the first step
  // of the plan then ends with.
  virtual std::unique_ptr<rendezvous> make(const plan_view& part) = 0;
};

// How many turns of a channel may be on their way.
constexpr int depth_of(const plan_view& p, const channel& c) {
  return p.instructions[c.send >= 0 ? c.send : c.receive].region != 0 ? turns_on_the_way : 1;
}
constexpr bool is_here(const channel& c) { return c.send >= 0 && c.receive >= 0; }
constexpr bool is_elsewhere(const channel& c) { return (c.send >= 0) != (c.receive >= 0); }

// Place n of a landing.
template <class Tag = void>
std::byte* place_of(const array_view& landing, std::int64_t n) {
  const std::int64_t bytes = landing.size() * size_of(landing.type);
  return landing.as<std::byte>() + n * ((bytes + slot_alignment - 1) / slot_alignment * slot_alignment);
}

// Why a rendezvous ended a step, until the next one begins.
template <class Tag = void>
class basic_abort_reason {
 public:
  // Only while no attempt is under way.
  void clear() noexcept { state_.store(state::none); }
  // True to the first one: it is known from now on.
  bool set(problem why, std::string_view reason) noexcept {
    state none = state::none;
    if (!state_.compare_exchange_strong(none, state::coming)) return false;
    why_ = why;
    try {
      reason_ = reason;
    } catch (...) {  // no memory for it
      reason_.clear();
    }
    state_.store(state::known);
    return true;
  }
  bool known() const noexcept { return state_.load() == state::known; }
  [[noreturn]] void refuse() const {
    const std::string_view text = reason_.empty() ? sentence(why_) : std::string_view(reason_);
    if (why_ == problem::cancelled) throw cancelled_error(why_, text);
    if (why_ == problem::deadline_passed) throw deadline_error(why_, text);
    throw execution_error(why_, text);
  }

 private:
  enum class state { none, coming, known };
  std::atomic<state> state_{state::none};
  problem why_ = problem::none;
  std::string reason_;
};
using abort_reason = basic_abort_reason<>;

}  // namespace flowgraph::detail
