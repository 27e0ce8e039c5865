// A stream over a socket of Asio's, of whichever kind.
#pragma once
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

#include "byte_stream.hpp"

namespace flowgraph::detail {

inline std::string words_of(const std::error_code& e) {
  if (!e) return {};
  if (e == asio::error::eof || e == asio::error::connection_reset || e == asio::error::broken_pipe)
    return "it has ended the connection";
  if (e == asio::error::operation_aborted || e == asio::error::bad_descriptor) return "the stream was closed";
  if (e == asio::error::connection_refused) return "nobody listens there";
  return e.message();
}

// What a handshake finds out about the socket.
template <class Socket>
using socket_check = stream_result (*)(Socket&);

template <class Socket>
class socket_stream final : public byte_stream {
 public:
  socket_stream(Socket s, std::string name, socket_check<Socket> check)
      : state_(std::make_shared<state>(std::move(s))),
        name_(std::move(name)),
        check_(check) {}
  ~socket_stream() override { close(); }

  void shake_hands(const stream_ends&, done d) override {
    stream_result r = check_ != nullptr ? check_(state_->socket) : stream_result{};
    asio::post(state_->socket.get_executor(), [d = std::move(d), r = std::move(r)] { d(r); });
  }
  void read(std::span<std::byte> to, std::size_t least, done d) override {
    // As much as there is at once: Asio's own conditions move 64 KiB a call.
    const auto rest = [least, most = to.size()](const std::error_code& e, std::size_t n) {
      return e || n >= least ? 0 : most - n;
    };
    asio::async_read(state_->socket, asio::buffer(to.data(), to.size()), rest,
                     [s = state_, d = std::move(d)](const std::error_code& e, std::size_t n) {
                       d({words_of(e), n, false});
                     });
  }
  void write(buffers b, done d) override {
    state_->writing.clear();
    for (const std::span<const std::byte> part : b) state_->writing.emplace_back(part.data(), part.size());
    const auto all = [](const std::error_code& e, std::size_t) {
      return e ? 0 : std::numeric_limits<std::size_t>::max();
    };
    asio::async_write(state_->socket, parts{state_->writing.data(), state_->writing.data() + state_->writing.size()},
                      all, [s = state_, d = std::move(d)](const std::error_code& e, std::size_t) {
                        d({words_of(e), 0, false});
                      });
  }
  void close() override {
    Socket& s = state_->socket;
    if (!s.is_open()) return;
    std::error_code e;
    s.shutdown(Socket::shutdown_send, e);
    // A socket that is closed with bytes unread takes back what it has not delivered yet.
    s.non_blocking(true, e);
    std::array<std::byte, 4096> unread;
    for (int i = 0; i < 64 && !e && s.read_some(asio::buffer(unread), e) > 0;) ++i;
    s.close(e);
  }
  std::string name() const override { return name_; }

 private:
  struct state {
    Socket socket;
    std::vector<asio::const_buffer> writing;
    explicit state(Socket s) : socket(std::move(s)) {}
  };
  // A sequence that Asio may copy without copying what it is of.
  struct parts {
    using value_type = asio::const_buffer;
    const value_type *first, *last;
    const value_type* begin() const { return first; }
    const value_type* end() const { return last; }
  };

  std::shared_ptr<state> state_;
  std::string name_;
  socket_check<Socket> check_;
};

}  // namespace flowgraph::detail
