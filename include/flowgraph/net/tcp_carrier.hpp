// Tasks anywhere, over TCP: with TLS where there are keys, and without where the program says that it wants none.
#pragma once
#include <charconv>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>

#include <flowgraph/core/text_from.hpp>

#include "asio_loop.hpp"
#include "peer_error.hpp"
#include "socket_facts.hpp"
#include "socket_listener.hpp"
#include "socket_stream.hpp"
#include "tls_stream.hpp"

namespace flowgraph::detail {

struct host_port {
  std::string host, port;
};
// "host:1", "10.0.0.1:1", "[::1]:1". False: none of them.
inline bool parse_host_port(std::string_view address, host_port& at) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  std::string_view host = address.substr(0, colon);
  const std::string_view port = address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find_first_of(":[]") != std::string_view::npos)
    return false;
  unsigned number = 0;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || host.find_first_of("/ ") != std::string_view::npos || port.empty() || read.ec != std::errc() ||
      read.ptr != port.data() + port.size() || number > 65535)
    return false;
  at = {std::string(host), std::to_string(number)};
  return true;
}

// Addresses "HOST:PORT".
class tcp_carrier final : public carrier {
 public:
  // keys: nullptr: plaintext. silence: data that is not confirmed for so long ends the connection.
  tcp_carrier(asio_loop& loop, std::shared_ptr<const tls_keys> keys, std::chrono::milliseconds silence)
      : loop_(loop),
        how_(std::make_shared<const how>(how{&loop, std::move(keys), silence})) {}
  ~tcp_carrier() override { leave(); }

  bool dials(std::string_view address) const override {
    host_port at;
    for (const std::string_view other : {"unix:", "process:", "mpi:"})
      if (address.starts_with(other)) return false;
    return parse_host_port(address, at);
  }
  void dial(const std::string& address, dialled d) override {
    if (*stopped_) return asio::post(loop_.io(), [d = std::move(d)] { d("this task is leaving", nullptr); });
    host_port at;
    parse_host_port(address, at);
    const auto found = std::make_shared<attempt>(loop_.io());
    std::error_code no_number;
    const auto number = asio::ip::make_address(at.host, no_number);
    if (!no_number) {
      const auto port = static_cast<unsigned short>(std::stoul(at.port));
      const tcp::endpoint one(number, port);
      return connect(found, tcp::resolver::results_type::create(one, at.host, at.port), std::move(d));
    }
    found->names.async_resolve(at.host, at.port,
                               [found, d = std::move(d), how = how_, stopped = stopped_](
                                   const std::error_code& e, const tcp::resolver::results_type& all) {
                                 if (*stopped) return d("this task is leaving", nullptr);
                                 if (e) return d("its name is not known: " + e.message(), nullptr);
                                 connect(found, all, d, how, stopped);
                               });
  }
  std::string listen(const std::string& address, accepted a) override {
    host_port at;
    parse_host_port(address, at);
    std::error_code e;
    tcp::resolver names(loop_.io());
    const auto all = names.resolve(at.host, at.port, tcp::resolver::passive, e);
    tcp::acceptor by(loop_.io());
    if (!e) {
      const tcp::endpoint where = all.begin()->endpoint();
      by.open(where.protocol(), e);
      if (!e && where.address().is_v6()) by.set_option(asio::ip::v6_only(false), e);  // "[::]" is any
      // A task that starts again has its port at once.
      if (!e) by.set_option(tcp::acceptor::reuse_address(true), e);
      if (!e) by.bind(where, e);
      if (!e) by.listen(asio::socket_base::max_listen_connections, e);
    }
    if (e) throw argument_error(problem::address_taken, {address, ": ", e.message()});
    const auto port = by.local_endpoint().port();
    const auto l = std::make_shared<listener>(std::move(by), [a = std::move(a), how = how_](tcp::socket s) {
      if (auto stream = stream_of(std::move(s), *how, false)) a(std::move(stream));
    });
    l->begin();
    listening_.push_back(l);
    const bool v6 = at.host.find(':') != std::string::npos;
    return text_from({v6 ? "[" : "", at.host, v6 ? "]:" : ":", static_cast<unsigned>(port)});
  }
  void stop() override {
    *stopped_ = true;
    leave();
  }

 private:
  using tcp = asio::ip::tcp;
  using listener = socket_listener<tcp>;
  struct how {
    asio_loop* loop;
    std::shared_ptr<const tls_keys> keys;
    std::chrono::milliseconds silence;
  };
  struct attempt {
    tcp::resolver names;
    tcp::socket socket;
    explicit attempt(asio::io_context& io) : names(io), socket(io) {}
  };

  void connect(const std::shared_ptr<attempt>& by, const tcp::resolver::results_type& to, dialled d) {
    connect(by, to, std::move(d), how_, stopped_);
  }
  static void connect(const std::shared_ptr<attempt>& by, const tcp::resolver::results_type& to, dialled d,
                      std::shared_ptr<const how> h, std::shared_ptr<bool> stopped) {
    asio::async_connect(by->socket, to,
                        [by, d = std::move(d), h = std::move(h), stopped = std::move(stopped)](const std::error_code& e,
                                                                                               const tcp::endpoint&) {
                          if (*stopped) return d("this task is leaving", nullptr);
                          if (e) return d(words_of(e), nullptr);
                          stream_handle s = stream_of(std::move(by->socket), *h, true);
                          d(s ? "" : "it has ended the connection", std::move(s));
                        });
  }
  // nullptr: it is gone already.
  static stream_handle stream_of(tcp::socket s, const how& h, bool dials) {
    std::error_code e;
    s.set_option(tcp::no_delay(true), e);
    s.set_option(asio::socket_base::keep_alive(true), e);
    give_up_after(s.native_handle(), h.silence);
    const tcp::endpoint peer = s.remote_endpoint(e);
    if (e) return nullptr;
    const bool v6 = peer.address().is_v6();
    const std::string name =
        text_from({h.keys ? "tcp+tls " : "tcp in plaintext ", v6 ? "[" : "", peer.address().to_string(),
                   v6 ? "]:" : ":", static_cast<unsigned>(peer.port())});
    auto plain = std::make_unique<socket_stream<tcp::socket>>(std::move(s), name, nullptr);
    if (!h.keys) return plain;
    return std::make_unique<tls_stream>(*h.loop, std::move(plain), h.keys, dials);
  }
  void leave() {
    for (const auto& l : listening_) l->end();
    listening_.clear();
  }

  asio_loop& loop_;
  std::shared_ptr<const how> how_;
  std::vector<std::shared_ptr<listener>> listening_;
  std::shared_ptr<bool> stopped_ = std::make_shared<bool>(false);
};

}  // namespace flowgraph::detail
