// What tasks say to each other goes over links: frames to one peer, in order, without waiting. Whoever sends and
// receives knows no sockets: links are the same within a process, over Unix sockets, TCP, TLS and MPI
// (endpoint.hpp makes them), and on a clock and a network that tests have made up.
//
// Threads: send, take, give_back, drain and close may be called from any thread. Calls of a link_receiver come from the
// endpoint's event loop, one at a time; they must not wait.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "frame.hpp"
#include "peer_error.hpp"

namespace flowgraph::detail {

// Who is at the other end. Its name is proven by the key, where the link has one.
struct peer_info {
  task_name name;
  std::uint64_t incarnation = 0;  // another number after each start of the task
  std::uint64_t fingerprint = 0;  // of what it runs; 0: anything
  std::string via;                // "tcp+tls 127.0.0.1:4711", as it can be printed
};

// How the way of a payload ended: it is with the operating system or at the peer; the peer did not want it; the link
// went down first, and nobody knows how much of it arrived.
enum class delivery { sent, dropped, link_down };

// Told once for each frame that names it, from the loop or from send itself. From then on the link reads the payload no
// more.
class sent_listener {
 public:
  virtual void sent(const frame_head&, delivery) noexcept = 0;

 protected:
  ~sent_listener() = default;
};

// Bytes that the link reads until it has sent them: what keeps them, if anything must, is let go then.
struct payload {
  const void* data = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<const void> owner = nullptr;
  sent_listener* listener = nullptr;
};

// A receiver's answer, before the first byte of a payload is read or any memory taken for it.
struct placement {
  enum class what {
    here,    // to `data`, where it stays
    aside,   // to `data`, until someone wants it: give_back() says when it has left
    later,   // of more than early_bytes alone: nowhere yet; take() says where
    drop,    // nobody wants it
    refuse,  // it must not be: the link goes down
  };
  what where = what::refuse;
  std::byte* data = nullptr;
};

class link_receiver {
 public:
  virtual ~link_receiver() = default;

  // The peer has proven who it is.
  virtual void up(const peer_info&) = 0;
  // Of frames with a payload. On the control channel only here, drop and refuse.
  virtual placement place(const frame_head&) = 0;
  // The payload is where it was placed; or there is none.
  virtual void arrived(const frame_head&) = 0;
  // The peer sends no more, and waits for this end to say the same: peer_link::drain.
  virtual void draining() {}
  // The last call. No memory that was placed or sent is touched any more.
  virtual void down(const peer_error&) = 0;
};

class peer_link {
 public:
  virtual ~peer_link() = default;

  virtual const task_name& peer() const = 0;

  // Frames of the same session and channel arrive in the order in which they were sent; others may overtake. Before the
  // link is up they wait. A payload on control_channel has at most early_bytes.
  virtual void send(const frame_head& h, payload p = {}) = 0;
  // Where a payload goes that was answered with `later`; nullptr: nobody wants it any more. Nothing happens if the link
  // is down.
  virtual void take(const frame_head& h, std::byte* to) = 0;
  // So many bytes that were placed aside have left.
  virtual void give_back(std::size_t bytes) = 0;
  // Sends what waits, then says so; when the peer has said it, too, the link goes down in order.
  virtual void drain() = 0;
  // Goes down now: what waits is not sent. `why` becomes the receiver's error.
  virtual void close(const std::string& why) = 0;
};

}  // namespace flowgraph::detail
