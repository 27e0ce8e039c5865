// A socket that others connect to, of whichever kind.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <asio/error.hpp>
#include <asio/steady_timer.hpp>

namespace flowgraph::detail {

template <class Protocol>
class socket_listener : public std::enable_shared_from_this<socket_listener<Protocol>> {
 public:
  using acceptor = typename Protocol::acceptor;
  using socket = typename Protocol::socket;

  socket_listener(acceptor a, std::function<void(socket)> f)
      : acceptor_(std::move(a)),
        pause_(acceptor_.get_executor()),
        accepted_(std::move(f)) {}

  void begin() {
    acceptor_.async_accept([self = this->shared_from_this()](const std::error_code& e, socket s) {
      if (!self->acceptor_.is_open()) return;
      if (!e) {
        const auto accepted = self->accepted_;  // which may end this listener
        accepted(std::move(s));
        if (self->acceptor_.is_open()) self->begin();
        return;
      }
      // Out of descriptors, mostly: the next one may find some.
      self->pause_.expires_after(std::chrono::milliseconds(50));
      self->pause_.async_wait([self](const std::error_code&) {
        if (self->acceptor_.is_open()) self->begin();
      });
    });
  }
  void end() {
    std::error_code e;
    acceptor_.close(e);
    pause_.cancel();
    accepted_ = nullptr;
  }

 private:
  acceptor acceptor_;
  asio::steady_timer pause_;
  std::function<void(socket)> accepted_;
};

}  // namespace flowgraph::detail
