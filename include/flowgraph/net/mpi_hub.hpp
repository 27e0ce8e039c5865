// Streams over MPI. One thread of the process makes all of MPI's calls; it asks for what has arrived, and sleeps a
// little when nothing has, because MPI wakes nobody.
//
// A stream is a tag: the end that dials sends on one communicator, the other on a second, and both ask for it on a
// third. A message is taken when somebody reads, and a send is done when it has been taken (MPI_Issend): that is all
// the credit it needs. Both are from and to the hub's own memory, since a send that has begun can't be called back.
#pragma once
// The C++ interface that MPI once had is a library of its own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <flowgraph/core/text_from.hpp>

#include "byte_stream.hpp"
#include "peer_error.hpp"

namespace flowgraph::detail {

class mpi_hub {
 public:
  struct listener {
    event_loop* loop;
    carrier::accepted accepted;
  };
  // One end of a stream. The hub's mutex guards it.
  struct end {
    event_loop* loop;  // nullptr: closed
    int peer, tag;
    bool dials;
    carrier::dialled dialled{};  // until the peer has answered

    struct message {
      std::vector<std::byte> data;
      MPI_Request request = MPI_REQUEST_NULL;
    };
    std::vector<std::span<const std::byte>> parts{};
    std::size_t part = 0;
    byte_stream::done written{};
    std::deque<message> flying{};
    bool end_sent = false;

    message arriving{};
    bool is_arriving = false, ended = false;
    std::size_t taken = 0;  // of what has arrived
    std::span<std::byte> to{};
    std::size_t least = 0, got = 0;
    byte_stream::done read{};
  };
  using end_handle = std::shared_ptr<end>;

  // Throws cluster_error. All ranks must ask for it.
  static mpi_hub& of_process() {
    static mpi_hub one;
    return one;
  }
  mpi_hub(const mpi_hub&) = delete;
  mpi_hub& operator=(const mpi_hub&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  bool listen(unsigned number, listener l) {
    const std::lock_guard lock(mutex_);
    return listeners_.emplace(number, std::move(l)).second;
  }
  // Nobody is called any more in that loop but by streams.
  void leave(event_loop& loop, const std::set<unsigned>& numbers) {
    const std::lock_guard lock(mutex_);
    for (const unsigned n : numbers) listeners_.erase(n);
    for (const end_handle& e : ends_)
      if (e->loop == &loop && e->dialled) refuse(*e, "this task is leaving");
  }
  void dial(event_loop& loop, int rank, unsigned number, carrier::dialled d) {
    const std::lock_guard lock(mutex_);
    const int tag = free_tag();
    const auto e = std::make_shared<end>(end{&loop, rank, tag, true, std::move(d)});
    ends_.push_back(e);
    asking_.push_back({rank, {tag, static_cast<int>(number)}, MPI_REQUEST_NULL, false});
  }
  void read(end& e, std::span<std::byte> to, std::size_t least, byte_stream::done d) {
    const std::lock_guard lock(mutex_);
    if (e.loop == nullptr) return;
    e.to = to;
    e.least = least;
    e.got = 0;
    e.read = std::move(d);
  }
  void write(end& e, byte_stream::buffers b, byte_stream::done d) {
    const std::lock_guard lock(mutex_);
    if (e.loop == nullptr) return;
    e.parts.assign(b.begin(), b.end());
    e.part = 0;
    e.written = std::move(d);
  }
  void close(end& e) {
    const std::lock_guard lock(mutex_);
    end_it(e, "the stream was closed");
  }

 private:
  struct asked {
    int peer;
    std::array<int, 2> words;  // the stream's tag, the listener's number
    MPI_Request request;
    bool sent;
  };
  static constexpr std::size_t message_bytes = std::size_t{1} << 20;
  static constexpr std::size_t most_flying = 2;

  mpi_hub() {
    std::promise<std::string> begun;
    auto why = begun.get_future();
    thread_ = std::thread([this, &begun] { run(begun); });
    if (const std::string wrong = why.get(); !wrong.empty()) {
      thread_.join();
      throw cluster_error(problem::cluster_mpi, {"MPI: ", wrong});
    }
  }
  ~mpi_hub() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    thread_.join();
  }

  // ---- the thread

  void run(std::promise<std::string>& begun) {
    int initialised = 0, level = 0;
    MPI_Initialized(&initialised);
    if (initialised == 0)
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    else
      MPI_Query_thread(&level);
    if (level < (initialised == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE))
      return begun.set_value("the program has begun it without MPI_THREAD_MULTIPLE");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Request made[3];
    MPI_Comm_idup(MPI_COMM_WORLD, &asks_, &made[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &forth_, &made[1]);
    MPI_Comm_idup(MPI_COMM_WORLD, &back_, &made[2]);
    const auto until = net_clock::now() + std::chrono::seconds(60);
    for (int done = 0; done == 0;) {
      MPI_Testall(3, made, &done, MPI_STATUSES_IGNORE);
      if (done == 0 && net_clock::now() > until)
        return begun.set_value("other ranks have not opened their network within 60 s");
      if (done == 0) std::this_thread::sleep_for(nap);
    }
    for (const MPI_Comm c : {asks_, forth_, back_}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    begun.set_value({});
    const bool clean = go_round();
    // What is under way for ever, to a rank that is dead, must not be ended in an orderly manner.
    if (initialised == 0 && clean) MPI_Finalize();
  }
  // False: something is under way still.
  bool go_round() {
    net_time until{};
    for (int quiet = 0;;) {
      bool moved;
      {
        const std::lock_guard lock(mutex_);
        moved = move();
        if (ending_) {
          for (const end_handle& e : ends_) end_it(*e, "the program ends");
          if (ends_.empty() && asking_.empty()) return true;
          if (until == net_time{}) until = net_clock::now() + std::chrono::seconds(2);
          if (net_clock::now() > until) return false;
        }
      }
      quiet = moved ? 0 : quiet + 1;
      if (quiet > 20) std::this_thread::sleep_for(quiet < 20'000 ? nap : 10 * nap);
    }
  }
  bool move() {
    bool moved = answer_asked();
    for (auto at = asking_.begin(); at != asking_.end();) {
      if (!std::exchange(at->sent, true)) {
        MPI_Isend(at->words.data(), 2, MPI_INT, at->peer, 0, asks_, &at->request);
        moved = true;
      }
      at = is_done(at->request) ? asking_.erase(at) : std::next(at);
    }
    for (auto at = ends_.begin(); at != ends_.end();) {
      end& e = **at;
      if (move_out(e)) moved = true;
      if (move_in(e)) moved = true;
      const bool over = e.loop == nullptr && e.end_sent && e.flying.empty() && e.ended && !e.is_arriving;
      at = over ? ends_.erase(at) : std::next(at);
    }
    return moved;
  }
  static bool is_done(MPI_Request& r) {
    int done = 0;
    return MPI_Test(&r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  }

  // ---- who connects

  bool answer_asked() {
    int there = 0;
    MPI_Status s;
    if (MPI_Iprobe(MPI_ANY_SOURCE, 0, asks_, &there, &s) != MPI_SUCCESS || there == 0) return false;
    std::array<int, 2> words{};
    if (MPI_Recv(words.data(), 2, MPI_INT, s.MPI_SOURCE, 0, asks_, MPI_STATUS_IGNORE) != MPI_SUCCESS) return true;
    const auto found = listeners_.find(static_cast<unsigned>(words[1]));
    const bool known = found != listeners_.end();
    const auto e = std::make_shared<end>(end{known ? found->second.loop : nullptr, s.MPI_SOURCE, words[0], false});
    ends_.push_back(e);
    send(*e, {std::byte{known ? std::uint8_t{1} : std::uint8_t{0}}});
    if (known) {
      const auto stream = std::make_shared<stream_handle>(make_stream(e));
      e->loop->post([accepted = found->second.accepted, stream] { accepted(std::move(*stream)); });
    }
    return true;
  }
  stream_handle make_stream(end_handle e);

  void refuse(end& e, const std::string& why) {
    e.loop->post([d = std::exchange(e.dialled, nullptr), why] { d(why, nullptr); });
    end_it(e, why);
  }
  // Tags are numbered densely, because some systems have few; one is free again when both ends are closed.
  int free_tag() {
    do last_tag_ = last_tag_ % 32'000 + 1;
    while (
        std::any_of(ends_.begin(), ends_.end(), [&](const end_handle& e) { return e->dials && e->tag == last_tag_; }));
    return last_tag_;
  }

  // ---- streams

  MPI_Comm out_of(const end& e) const { return e.dials ? forth_ : back_; }
  MPI_Comm into(const end& e) const { return e.dials ? back_ : forth_; }

  static void answer(end& e, byte_stream::done& d, const stream_result& r) {
    if (d && e.loop != nullptr) e.loop->post([d = std::exchange(d, nullptr), r] { d(r); });
  }
  static void end_it(end& e, const std::string& why) {
    if (e.loop == nullptr) return;
    answer(e, e.read, {why, 0, false});
    answer(e, e.written, {why, 0, false});
    if (e.dialled) e.loop->post([d = std::exchange(e.dialled, nullptr), why] { d(why, nullptr); });
    e.parts.clear();
    e.part = 0;
    if (!e.is_arriving) e.taken = e.arriving.data.size();  // what nobody has read, nobody will
    e.loop = nullptr;
  }
  void send(end& e, std::vector<std::byte> data) {
    e.flying.push_back({std::move(data), MPI_REQUEST_NULL});
    end::message& m = e.flying.back();
    MPI_Issend(m.data.data(), static_cast<int>(m.data.size()), MPI_BYTE, e.peer, e.tag, out_of(e), &m.request);
  }
  bool move_out(end& e) {
    bool moved = false;
    while (!e.flying.empty() && is_done(e.flying.front().request)) {
      e.flying.pop_front();
      moved = true;
    }
    while (e.flying.size() < most_flying && e.part < e.parts.size()) {
      std::vector<std::byte> data;
      while (data.size() < message_bytes && e.part < e.parts.size()) {
        std::span<const std::byte>& p = e.parts[e.part];
        const auto some = p.first(std::min(p.size(), message_bytes - data.size()));
        data.insert(data.end(), some.begin(), some.end());
        p = p.subspan(some.size());
        if (p.empty()) ++e.part;
      }
      if (data.empty()) break;
      send(e, std::move(data));
      moved = true;
    }
    if (e.part == e.parts.size() && e.flying.empty()) {
      answer(e, e.written, {});
      if (e.loop == nullptr && !std::exchange(e.end_sent, true)) {
        send(e, {});
        moved = true;
      }
    }
    return moved;
  }
  bool move_in(end& e) {
    bool moved = false;
    const bool wants = e.read || e.dialled || e.loop == nullptr;
    if (wants && !e.is_arriving && !e.ended && e.taken == e.arriving.data.size()) {
      int there = 0, bytes = 0;
      MPI_Message m;
      MPI_Status s;
      if (MPI_Improbe(e.peer, e.tag, into(e), &there, &m, &s) == MPI_SUCCESS && there != 0) {
        MPI_Get_count(&s, MPI_BYTE, &bytes);
        e.arriving.data.resize(static_cast<std::size_t>(bytes));
        e.taken = 0;
        MPI_Imrecv(e.arriving.data.data(), bytes, MPI_BYTE, &m, &e.arriving.request);
        e.is_arriving = moved = true;
      }
    }
    if (e.is_arriving && is_done(e.arriving.request)) {
      e.is_arriving = false;
      moved = true;
      if (e.arriving.data.empty()) e.ended = true;
      if (e.loop == nullptr) e.taken = e.arriving.data.size();
    }
    if (e.is_arriving || e.loop == nullptr) return moved;
    if (e.dialled) {
      if (e.ended || e.taken < e.arriving.data.size()) open(e);
    } else if (e.read) {
      const std::size_t n = std::min(e.to.size() - e.got, e.arriving.data.size() - e.taken);
      if (n > 0) std::memcpy(e.to.data() + e.got, e.arriving.data.data() + e.taken, n);
      e.got += n;
      e.taken += n;
      if (e.got >= e.least)
        answer(e, e.read, {{}, e.got, false});
      else if (e.ended)
        answer(e, e.read, {"it has ended the connection", 0, false});
    }
    return moved;
  }
  // The peer has answered who dialled.
  void open(end& e) {
    if (e.ended || e.arriving.data[e.taken++] != std::byte{1}) return refuse(e, "nobody listens there");
    const auto own = std::find_if(ends_.begin(), ends_.end(), [&](const end_handle& h) { return h.get() == &e; });
    const auto stream = std::make_shared<stream_handle>(make_stream(*own));
    e.loop->post([d = std::exchange(e.dialled, nullptr), stream] { d({}, std::move(*stream)); });
  }

  static constexpr std::chrono::microseconds nap{50};

  int rank_ = 0, size_ = 0;
  MPI_Comm asks_ = MPI_COMM_NULL, forth_ = MPI_COMM_NULL, back_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::map<unsigned, listener> listeners_;
  std::list<end_handle> ends_;
  std::list<asked> asking_;
  int last_tag_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

class mpi_stream final : public byte_stream {
 public:
  mpi_stream(mpi_hub& hub, event_loop& loop, mpi_hub::end_handle e)
      : hub_(hub),
        loop_(loop),
        end_(std::move(e)),
        name_(text_from({"mpi rank ", end_->peer})) {}
  ~mpi_stream() override { close(); }

  void shake_hands(const stream_ends&, done d) override {
    loop_.post([d = std::move(d)] { d({}); });
  }
  void read(std::span<std::byte> to, std::size_t least, done d) override { hub_.read(*end_, to, least, std::move(d)); }
  void write(buffers b, done d) override { hub_.write(*end_, b, std::move(d)); }
  void close() override { hub_.close(*end_); }
  std::string name() const override { return name_; }

 private:
  mpi_hub& hub_;
  event_loop& loop_;
  mpi_hub::end_handle end_;
  std::string name_;
};

inline stream_handle mpi_hub::make_stream(end_handle e) {
  event_loop& loop = *e->loop;
  return std::make_unique<mpi_stream>(*this, loop, std::move(e));
}

}  // namespace flowgraph::detail
