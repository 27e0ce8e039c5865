// Tasks of one host, over Unix sockets: the system says which user is at the other end, and it must be the same on
// both. Needs no key.
#pragma once
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/local/stream_protocol.hpp>

#include <flowgraph/core/text_from.hpp>

#include "asio_loop.hpp"
#include "peer_error.hpp"
#include "socket_facts.hpp"
#include "socket_listener.hpp"
#include "socket_stream.hpp"

namespace flowgraph::detail {

// Addresses "unix:PATH".
class unix_carrier final : public carrier {
 public:
  explicit unix_carrier(asio_loop& loop) : loop_(loop) {}
  ~unix_carrier() override { leave(); }

  bool dials(std::string_view address) const override { return address.starts_with(prefix); }
  void dial(const std::string& address, dialled d) override {
    const std::string path = address.substr(prefix.size());
    if (*stopped_ || path.empty() || path.size() > longest_path) {
      const std::string why = *stopped_ ? "this task is leaving" : too_long;
      return asio::post(loop_.io(), [d = std::move(d), why] { d(why, nullptr); });
    }
    const auto s = std::make_shared<socket>(loop_.io());
    s->async_connect(protocol::endpoint(path), [s, d = std::move(d), stopped = stopped_](const std::error_code& e) {
      if (*stopped) return d("this task is leaving", nullptr);
      if (e.value() == ENOENT) return d("nobody listens there", nullptr);
      if (e) return d(words_of(e), nullptr);
      d({}, stream_of(std::move(*s)));
    });
  }
  std::string listen(const std::string& address, accepted a) override {
    const std::string path = address.substr(prefix.size());
    if (path.empty() || path.size() > longest_path)
      throw argument_error(problem::address_form, {address, ": ", too_long});
    std::error_code e;
    if (identity_of(path).is_socket) {  // of a task that has ended without saying so?
      socket one(loop_.io());
      one.open(protocol(), e);
      one.non_blocking(true, e);
      one.connect(protocol::endpoint(path), e);
      if (e == asio::error::connection_refused) remove_file(path);
    }
    protocol::acceptor at(loop_.io());
    if (!at.open(protocol(), e)) keep_private(at.native_handle());
    if (!e) at.bind(protocol::endpoint(path), e);
    if (!e) at.listen(asio::socket_base::max_listen_connections, e);
    if (e) throw argument_error(problem::address_taken, {address, ": ", e.message()});
    const auto l =
        std::make_shared<listener>(std::move(at), [a = std::move(a)](socket s) { a(stream_of(std::move(s))); });
    l->begin();
    listening_.push_back({l, path, identity_of(path)});
    return address;
  }
  void stop() override {
    *stopped_ = true;
    leave();
  }

 private:
  using protocol = asio::local::stream_protocol;
  using socket = protocol::socket;
  using listener = socket_listener<protocol>;
  struct listening {
    std::shared_ptr<listener> by;
    std::string path;
    file_identity file;
  };
  static constexpr std::string_view prefix = "unix:";
  static constexpr std::size_t longest_path = 107;
  static constexpr const char* too_long = "the path of a Unix socket has 1 to 107 bytes";

  static stream_result same_user(socket& s) {
    const socket_user u = user_at(s.native_handle());
    if (u.known && u.id == own_user()) return {};
    return {u.known ? text_from({"it runs as user ", u.id, ", and this task as user ", own_user()})
                    : std::string("the system does not say which user it is"),
            0, true};
  }
  static stream_handle stream_of(socket s) {
    return std::make_unique<socket_stream<socket>>(std::move(s), "unix", &same_user);
  }
  void leave() {
    for (const listening& l : listening_) {
      l.by->end();
      if (identity_of(l.path) == l.file) remove_file(l.path);
    }
    listening_.clear();
  }

  asio_loop& loop_;
  std::vector<listening> listening_;
  std::shared_ptr<bool> stopped_ = std::make_shared<bool>(false);
};

}  // namespace flowgraph::detail
