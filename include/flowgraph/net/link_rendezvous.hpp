// Where parts of a step that run on different tasks meet: a rendezvous over links. Values are pushed as soon as they
// are there, at most `depth_of` turns ahead of their receiver.
//
// They are copied once at each end, for a link can't take back memory that it has been lent: a step that fails does not
// wait for the network.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "step_arrivals.hpp"

namespace flowgraph::detail {

class link_rendezvous final : public rendezvous {
 public:
  link_rendezvous(std::shared_ptr<step_board> b, std::uint16_t session)
      : board_(std::move(b)),
        session_(session),
        channels_(board_->channels_of(session)) {
    step_.ways.resize(channels_.ways.size());
  }
  ~link_rendezvous() override { end(); }

  std::unique_ptr<attempt> sender(int channel) override { return std::make_unique<sending>(*this, channel); }
  std::unique_ptr<attempt> receiver(int channel) override { return std::make_unique<receiving>(*this, channel); }

  void begin(const rendezvous_step& s) override {
    end();
    std::int64_t all = 0;
    for (std::size_t k = 0; k < step_.ways.size(); ++k) {
      const part_channels::way& c = channels_.ways[k];
      board_step::way& w = step_.ways[k] = {};
      if (!c.arrives) continue;
      w.bytes = s.landings[k].type == dtype::none ? 0 : s.landings[k].size() * size_of(s.landings[k].type);
      w.stride = (w.bytes + slot_alignment - 1) / slot_alignment * slot_alignment;
      all += w.stride * c.depth;
    }
    // What the last step left behind may still be on its way there: then it keeps that memory, and this step has
    // another.
    const bool busy = [&] {
      const std::lock_guard lock(board_->mutex());
      return step_.landed.use_count() > 1;
    }();
    if (room_ < all || busy) {
      step_.landed = std::make_shared_for_overwrite<std::byte[]>(static_cast<std::size_t>(all));
      room_ = all;
    }
    std::byte* at = step_.landed.get();
    for (std::size_t k = 0; k < step_.ways.size(); ++k)
      if (channels_.ways[k].arrives)
        step_.ways[k].at = std::exchange(at, at + step_.ways[k].stride * channels_.ways[k].depth);
    number_ = s.number;
    known_ = true;
    board_->begin(session_, number_, step_);
  }
  void abort(problem why, std::string_view reason) noexcept override {
    try {
      if (known_) board_->fail(session_, number_, why, reason);
    } catch (...) {  // no memory to say it: those who wait for this end have deadlines
    }
  }
  void end() noexcept override { board_->end(session_, number_, step_); }

 private:
  // Both ends of channels, as far as they are alike.
  class end_of_way : public attempt {
   public:
    end_of_way(link_rendezvous& r, int channel)
        : here_(r),
          facts_(r.channels_.ways[static_cast<std::size_t>(channel)]),
          way_(r.step_.ways[static_cast<std::size_t>(channel)]) {
      head_.session = r.session_;
      head_.channel = static_cast<std::uint32_t>(channel) + 1;
    }
    bool cancel() noexcept override {
      const std::lock_guard lock(mutex());
      return std::exchange(way_.waits, nullptr) != nullptr;
    }

   protected:
    std::mutex& mutex() const { return here_.board_->mutex(); }
    bool begin_or_wait(bool ready, waiter& w) {
      if (ready || here_.step_.end) return true;
      way_.waits = &w;
      return false;
    }
    void check() const {
      if (here_.step_.end) here_.step_.end.refuse();
    }
    void say(step_kind kind, std::int64_t turn, const step_board::link& to, payload p) {
      if (to == nullptr) return;  // its end is on the way here
      head_.kind = static_cast<std::uint8_t>(kind);
      head_.step = here_.number_;
      head_.turn = static_cast<std::uint32_t>(turn);
      to->send(head_, std::move(p));
    }

    link_rendezvous& here_;
    const part_channels::way& facts_;
    board_step::way& way_;
    frame_head head_;
  };

  class sending final : public end_of_way {
   public:
    using end_of_way::end_of_way;
    bool begin(const kernel_args&, waiter& w) override {
      const std::lock_guard lock(mutex());
      return begin_or_wait(way_.begun - way_.there < facts_.depth, w);
    }
    void finish(const kernel_args& k) override {
      {
        const std::lock_guard lock(mutex());
        check();
      }
      payload p;
      if (k.n_in > 0) p = copy_of(k.in[0].data, static_cast<std::size_t>(k.in[0].size() * size_of(k.in[0].type)));
      std::int64_t turn = 0;
      step_board::link to;
      {
        const std::lock_guard lock(mutex());
        turn = way_.begun++;
        to = here_.board_->link_to(here_.step_, facts_.peer);
      }
      say(step_kind::value, turn, to, std::move(p));
    }
  };

  class receiving final : public end_of_way {
   public:
    using end_of_way::end_of_way;
    bool begin(const kernel_args&, waiter& w) override {
      const std::lock_guard lock(mutex());
      return begin_or_wait(way_.there > way_.done, w);
    }
    void finish(const kernel_args& k) override {
      {
        const std::lock_guard lock(mutex());
        check();
      }
      // Nobody else writes there before it is taken.
      if (k.n_out > 0 && way_.bytes > 0)
        std::memcpy(k.out[0].data, way_.at + way_.done % facts_.depth * way_.stride,
                    static_cast<std::size_t>(way_.bytes));
      std::int64_t turn = 0;
      step_board::link to;
      {
        const std::lock_guard lock(mutex());
        turn = way_.done++;
        to = here_.board_->link_to(here_.step_, facts_.peer);
      }
      say(step_kind::taken, turn, to, {});
    }
  };

  const std::shared_ptr<step_board> board_;
  const std::uint16_t session_;
  const part_channels& channels_;
  board_step step_;
  std::int64_t room_ = -1;
  std::uint64_t number_ = 0;
  bool known_ = false;  // it has begun a step
};

// What an engine is given that runs parts of plans with other tasks.
class link_source final : public rendezvous_source {
 public:
  link_source() = default;
  ~link_source() override { board_->close(); }
  link_source(const link_source&) = delete;
  link_source& operator=(const link_source&) = delete;

  // A part that the engine is going to run, before it does, and before a peer sends for it. session: the same number at
  // all ends, of one plan each. Throws argument_error.
  void add(std::uint16_t session, const plan_view& part) { board_->add(session, part); }
  // Takes what a peer says, for endpoint::connect and its welcome; goes_over tells it the link by which this end
  // answers. One link to a peer at a time: the next one takes the place of the former, which is closed.
  std::shared_ptr<step_receiver> meet(const task_name& peer) { return board_->meet(board_, peer); }
  // The step has failed before it began here, or is not going to: those who wait for this end hear of it.
  void give_up(std::uint16_t session, std::uint64_t step, problem why, std::string_view reason) {
    board_->fail(session, step, why, reason);
  }

  std::unique_ptr<rendezvous> make(const plan_view& part) override {
    const std::optional<std::uint16_t> session = board_->session_of(part);
    if (!session)
      throw argument_error(problem::peer_absent,
                           {"this part of a plan has no session: ", sentence(problem::peer_absent)});
    return std::make_unique<link_rendezvous>(board_, *session);
  }

 private:
  const std::shared_ptr<step_board> board_ = std::make_shared<step_board>();
};

}  // namespace flowgraph::detail
