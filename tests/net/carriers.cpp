// Every carrier is held to tests/support/carrier_conformance.hpp; then what is particular to sockets and to TLS.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>

#include <flowgraph/net/memory_carrier.hpp>
#include <flowgraph/net/tcp_carrier.hpp>
#include <flowgraph/net/thread_loop.hpp>
#include <flowgraph/net/unix_carrier.hpp>

#include "../support/carrier_conformance.hpp"

namespace {

using namespace net_test;

const std::string right_key = "0123456789abcdef0123456789abcdef";

std::string number() {
  static int n = 0;
  return std::to_string(::getpid()) + "-" + std::to_string(++n);
}

struct memory_kind {
  static constexpr bool has_handshake = false, is_passed_on = false;
  static std::unique_ptr<event_loop> make_loop() { return std::make_unique<thread_loop>(); }
  static std::unique_ptr<carrier> make(event_loop& l, const task_name&) { return std::make_unique<memory_carrier>(l); }
  static std::string address() { return "process:" + number(); }
};
struct socket_kind {
  static std::unique_ptr<event_loop> make_loop() { return std::make_unique<asio_loop>(); }
  static asio_loop& of(event_loop& l) { return static_cast<asio_loop&>(l); }
};
struct unix_kind : socket_kind {
  static constexpr bool has_handshake = false, is_passed_on = false;
  static std::unique_ptr<carrier> make(event_loop& l, const task_name&) {
    return std::make_unique<unix_carrier>(of(l));
  }
  static std::string address() {
    return "unix:" + (std::filesystem::temp_directory_path() / ("flowgraph-" + number())).string();
  }
};
struct plain_kind : socket_kind {
  static constexpr bool has_handshake = false, is_passed_on = false;
  static std::unique_ptr<carrier> make(event_loop& l, const task_name&) {
    return std::make_unique<tcp_carrier>(of(l), nullptr, 2s);
  }
  static std::string address() { return "127.0.0.1:0"; }
};
struct tls_kind : socket_kind {
  static constexpr bool has_handshake = true, is_passed_on = false;
  static std::unique_ptr<carrier> make(event_loop& l, const task_name&) {
    return std::make_unique<tcp_carrier>(of(l), tls_keys::of_key(right_key), 2s);
  }
  static std::string address() { return "localhost:0"; }
};

}  // namespace

TEST_CASE("carriers: within the process") { conform<memory_kind>(); }
TEST_CASE("carriers: Unix sockets") { conform<unix_kind>(); }
TEST_CASE("carriers: TCP in plaintext") { conform<plain_kind>(); }
TEST_CASE("carriers: TCP with TLS by a key") { conform<tls_kind>(); }
