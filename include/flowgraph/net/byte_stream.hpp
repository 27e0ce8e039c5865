// What a link goes over: bytes in order, both ways, until one end is gone; and who makes such streams. A transport is
// these two classes, and links and endpoints do the rest.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "event_loop.hpp"
#include "task_name.hpp"

namespace flowgraph::detail {

// Both ends of a stream, as the one that dials and the one that listens see it.
struct stream_ends {
  std::string cluster;
  task_name from, to;
};

// How a read, a write or a handshake ended.
struct stream_result {
  std::string why;        // empty: well; or in words
  std::size_t bytes = 0;  // read
  bool refused = false;   // the other end has said no, and will again
};

// All calls, and all calls back, are made on the loop; none is called back before it returns.
class byte_stream {
 public:
  using done = std::function<void(stream_result)>;
  using buffers = std::span<const std::span<const std::byte>>;

  virtual ~byte_stream() = default;

  // Proves to each other who is there, as far as this kind of stream can; the one that dials says whom it expects, the
  // one that listens learns it.
  virtual void shake_hands(const stream_ends& expected, done) = 0;
  // What the handshake has proven: "cluster|from>to"; empty: nothing about names.
  virtual std::string proven() const { return {}; }
  // At least so many bytes, at most `to.size()`. One at a time.
  virtual void read(std::span<std::byte> to, std::size_t least, done) = 0;
  // All of them; the span of spans need not outlive the call, what they point to does. One at a time.
  virtual void write(buffers, done) = 0;
  // What is under way is called back soon, and touches no memory from now on. In order: what was written arrives before
  // the end.
  virtual void close() = 0;
  // For people: "unix", "tcp+tls 10.0.0.1:4711".
  virtual std::string name() const = 0;
};
using stream_handle = std::unique_ptr<byte_stream>;

// One way to reach other tasks.
class carrier {
 public:
  using dialled = std::function<void(std::string why, stream_handle)>;
  using accepted = std::function<void(stream_handle)>;

  virtual ~carrier() = default;

  virtual bool dials(std::string_view address) const = 0;
  // One attempt. Called back once, on the loop; at once after stop().
  virtual void dial(const std::string& address, dialled) = 0;
  // Gives the address that it has: a port of 0 becomes one that is free. Throws argument_error.
  virtual std::string listen(const std::string& address, accepted) = 0;
  // Ends listening and dialling. On the loop.
  virtual void stop() = 0;
};

}  // namespace flowgraph::detail
