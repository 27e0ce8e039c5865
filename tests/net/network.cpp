// A task's network as a program opens it: what carries it, what guards it, what is refused before anything is sent.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <flowgraph/net/open_network.hpp>

#include "support.hpp"

namespace {

using namespace net_test;
using namespace std::chrono_literals;
namespace fg = flowgraph;

const std::string key = "0123456789abcdef0123456789abcdef";
const task_name ps{"ps", 0}, worker{"worker", 0};

// A port that is free now.
std::string free_port() {
  asio::io_context io;
  asio::ip::tcp::acceptor a(io, {asio::ip::address_v4::loopback(), 0});
  return std::to_string(a.local_endpoint().port());
}
struct meeting {
  std::shared_ptr<notes> at_ps = std::make_shared<notes>(), says = std::make_shared<notes>();
  network a, b;
  std::shared_ptr<peer_link> link;

  meeting(const std::vector<cluster_job>& jobs, network_options here, network_options there)
      : a(open_network(fg::cluster(jobs, worker), quiet(std::move(here)), 5)),
        b(open_network(fg::cluster(jobs, ps), quiet(std::move(there)), 5)) {
    listen(b, [this](const peer_info&, const std::shared_ptr<peer_link>&, std::string&) { return at_ps; });
    link = connect(a, ps, says, a.loop->now() + 10s);
  }
  std::string via() {
    if (says->wait_up()) return says->peer().via;
    return says->error() != nullptr ? says->error()->what() : "no answer";
  }
  static network_options quiet(network_options o) {
    o.quiet = true;
    return o;
  }
};
network_options keyed(fg::transport t = fg::transport::any) {
  network_options o;
  o.key = key;
  o.transport = t;
  return o;
}
std::vector<cluster_job> at(const std::string& address) { return {{"ps", {address}}, {"worker", {"192.0.2.1:1"}}}; }

}  // namespace

TEST_CASE("network: tasks of one host meet by a Unix socket, others by TCP, as both ends have it") {
  const std::string address = "127.0.0.1:" + free_port();
  CHECK(meeting(at(address), keyed(), keyed()).via() == "unix");
  CHECK(meeting(at(address), keyed(), keyed(fg::transport::unix_sockets)).via() == "unix");
  CHECK(meeting(at(address), keyed(fg::transport::tcp), keyed()).via() == "tcp+tls " + address);
  CHECK(meeting(at(address), keyed(), keyed(fg::transport::tcp)).via() == "tcp+tls " + address);
  network_options plain;
  plain.plaintext = true;
  plain.transport = fg::transport::tcp;
  CHECK(meeting(at(address), plain, plain).via() == "tcp in plaintext " + address);
  // A name is listened for on all interfaces, whatever it means.
  CHECK(meeting(at("localhost:" + free_port()), keyed(fg::transport::tcp), keyed()).via().starts_with("tcp+tls "));
  const std::string path = "unix:/tmp/flowgraph-meeting-" + std::to_string(::getpid());
  CHECK(meeting({{"ps", {path}}, {"worker", {"process:w"}}}, {}, {}).via() == "unix");
  CHECK(meeting({{"ps", {"process:network-test"}}, {"worker", {"process:w"}}}, {}, {}).via() == "process");
}

TEST_CASE("network: what is not guarded is not opened") {
  ::unsetenv("FLOWGRAPH_KEY");
  ::unsetenv("FLOWGRAPH_KEY_FILE");
  const fg::cluster c(at("127.0.0.1:1"), worker);
  CHECK_THROWS_WITH_AS(open_network(c, {}, 0), doctest::Contains("has a task at 127.0.0.1:1 (tasks on TCP need a key"),
                       cluster_error);
  network_options both = keyed();
  both.plaintext = true;
  CHECK_THROWS_AS(open_network(c, both, 0), cluster_error);
  both = keyed();
  both.certificate = "x.pem";
  CHECK_THROWS_AS(open_network(c, both, 0), cluster_error);
  network_options o;
  o.key = "short";
  CHECK_THROWS_WITH_AS(open_network(c, o, 0), doctest::Contains("the key has 5 bytes"), cluster_error);
  o = {};
  o.certificate = o.private_key = o.authorities = "/no/such/file";
  CHECK_THROWS_WITH_AS(open_network(c, o, 0), doctest::Contains("the certificate /no/such/file"), cluster_error);
  o = keyed();
  o.patience = o.beat;
  CHECK_THROWS_WITH_AS(open_network(c, o, 0), doctest::Contains("here: beat 1000 ms, patience 1000 ms"),
                       argument_error);
#if !FLOWGRAPH_MPI
  CHECK_THROWS_WITH_AS(open_network(fg::cluster({{"ps", {"mpi:0"}}}, ps), {}, 0),
                       doctest::Contains("need a program that is built with it"), cluster_error);
#endif
  CHECK_THROWS_AS(open_network(fg::cluster({{"ps", {"h:x"}}}, ps), keyed(), 0), argument_error);
  network n = open_network(c, keyed(), 0);
  CHECK_THROWS_AS(connect(n, {"ps", 1}, std::make_shared<notes>(), n.loop->now()), cluster_error);
}

TEST_CASE("network: the key comes from a file or a variable") {
  const std::string file = "flowgraph_key_test", address = "127.0.0.1:" + free_port();
  std::ofstream(file) << key << "\n";
  network_options tcp;
  tcp.transport = fg::transport::tcp;
  ::setenv("FLOWGRAPH_KEY_FILE", file.c_str(), 1);
  CHECK(meeting(at(address), keyed(fg::transport::tcp), tcp).via() == "tcp+tls " + address);
  ::setenv("FLOWGRAPH_KEY_FILE", "/no/such/file", 1);
  CHECK_THROWS_WITH_AS(open_network(fg::cluster(at(address), ps), tcp, 0),
                       doctest::Contains("/no/such/file: it can't be read"), cluster_error);
  ::unsetenv("FLOWGRAPH_KEY_FILE");
  ::setenv("FLOWGRAPH_KEY", key.c_str(), 1);
  CHECK(meeting(at(address), tcp, keyed(fg::transport::tcp)).via() == "tcp+tls " + address);
  ::unsetenv("FLOWGRAPH_KEY");
  std::remove(file.c_str());
}
