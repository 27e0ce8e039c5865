// Who gets nothing: strangers at TLS and at Unix sockets.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <flowgraph/net/memory_carrier.hpp>
#include <flowgraph/net/tcp_carrier.hpp>
#include <flowgraph/net/unix_carrier.hpp>
#include <flowgraph/net/virtual_loop.hpp>

#include "../support/carrier_conformance.hpp"

namespace {

using namespace net_test;

const std::string right_key = "0123456789abcdef0123456789abcdef";
using keys = std::shared_ptr<const tls_keys>;

// One task listens by `there`, another looks for it by `here`: what it is told.
struct attempt {
  std::unique_ptr<asio_loop> loop = std::make_unique<asio_loop>();
  endpoint ps{*loop, quick(conform_ps)}, worker;
  std::shared_ptr<notes> at_ps = std::make_shared<notes>(), says = std::make_shared<notes>();

  attempt(const keys& here, const keys& there, const task_name& to = conform_ps,
          endpoint_options from = quick(conform_worker))
      : worker(*loop, from) {
    ps.add(std::make_unique<tcp_carrier>(*loop, there, 2s));
    worker.add(std::make_unique<tcp_carrier>(*loop, here, 2s));
    const std::string at = ps.listen(
        "127.0.0.1:0", [this](const peer_info&, const std::shared_ptr<peer_link>&, std::string&) { return at_ps; });
    worker.connect(to, at, says, loop->now() + 1s);
  }
  std::string refusal() {
    if (says->wait_up()) return "it was let in";
    return says->error() != nullptr ? says->error()->what() : "no answer";
  }
};
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("TLS: the right key is let in, and proves names of any length") {
  endpoint_options long_name = quick({std::string(64, 'w'), 99999});
  long_name.cluster = "test";
  attempt a(tls_keys::of_key(right_key), tls_keys::of_key(right_key), conform_ps, long_name);
  REQUIRE(a.says->wait_up());
  CHECK(has(a.says->peer().via, "tcp+tls 127.0.0.1:"));
}

TEST_CASE("TLS: who has another key, none, or one for another pair of tasks gets nothing") {
  const keys right = tls_keys::of_key(right_key);
  {
    attempt a(tls_keys::of_key("0123456789abcdef0123456789abcdeF"), right);
    CHECK_MESSAGE(has(a.refusal(), "both ends need the same key"), a.refusal());
    CHECK(a.says->why() == problem::peer_refused);
    CHECK_FALSE(a.at_ps->up_now());
  }
  {
    attempt a(right, right, {"ps", 1});  // which this is not
    CHECK_MESSAGE(has(a.refusal(), "both ends need the same key, and must mean each other"), a.refusal());
  }
  {
    endpoint_options other = quick(conform_worker);
    other.cluster = "other";
    attempt a(right, right, conform_ps, other);
    CHECK_MESSAGE(has(a.refusal(), "both ends need the same key"), a.refusal());
  }
  for (const bool here : {true, false}) {  // one end in plaintext
    attempt a(here ? nullptr : right, here ? right : nullptr);
    REQUIRE(a.says->wait_down());
    CHECK_FALSE(a.at_ps->up_now());
    CHECK_FALSE(a.says->up_now());
  }
}

TEST_CASE("TLS: a name that the key does not prove is refused, and so is a connection that comes back") {
  const auto loop = std::make_unique<asio_loop>();
  const keys right = tls_keys::of_key(right_key);
  endpoint ps(*loop, quick(conform_ps));
  ps.add(std::make_unique<tcp_carrier>(*loop, right, 2s));
  std::atomic<int> welcomed{0};
  const std::string at =
      ps.listen("127.0.0.1:0", [&](const peer_info&, const std::shared_ptr<peer_link>&, std::string&) {
        ++welcomed;
        return std::make_shared<notes>();
      });
  stranger_at liar(*loop, std::make_unique<tcp_carrier>(*loop, right, 2s));
  REQUIRE(liar.dial(at));
  REQUIRE(liar.shake({"worker", 2}).why.empty());
  liar.write(hello_frame({"worker", 3}));
  CHECK(has(liar.read_all(), "its key is not that of /job:worker/task:3"));
  // The direction is part of the key: what a task says to others can't be said to itself.
  stranger_at mirror(*loop, std::make_unique<tcp_carrier>(*loop, right, 2s));
  REQUIRE(mirror.dial(at));
  CHECK_FALSE(mirror.shake(conform_ps, conform_worker).why.empty());
  CHECK(welcomed == 0);
}

TEST_CASE("TLS: what was recorded of a connection opens no other") {
  using tcp = asio::ip::tcp;
  const auto loop = std::make_unique<asio_loop>();
  const keys right = tls_keys::of_key(right_key);
  endpoint ps(*loop, quick(conform_ps)), worker(*loop, quick(conform_worker));
  for (endpoint* e : {&ps, &worker}) e->add(std::make_unique<tcp_carrier>(*loop, right, 2s));
  std::atomic<int> welcomed{0};
  const std::string at =
      ps.listen("127.0.0.1:0", [&](const peer_info&, const std::shared_ptr<peer_link>&, std::string&) {
        ++welcomed;
        return std::make_shared<notes>();
      });
  host_port where;
  REQUIRE(parse_host_port(at, where));
  const tcp::endpoint there(asio::ip::address_v4::loopback(), static_cast<unsigned short>(std::stoi(where.port)));

  // A wire that writes down what passes from worker to ps.
  asio::io_context io;
  tcp::acceptor tap(io, {asio::ip::address_v4::loopback(), 0});
  const auto says = std::make_shared<notes>();
  const auto link =
      worker.connect(conform_ps, "127.0.0.1:" + std::to_string(tap.local_endpoint().port()), says, loop->now() + 10s);
  tcp::socket from = tap.accept(), to(io);
  to.connect(there);
  std::string record;
  std::thread back([&] {
    std::array<char, 4096> some;
    std::error_code e;
    for (std::size_t n; (n = to.read_some(asio::buffer(some), e)) > 0 && !e;)
      asio::write(from, asio::buffer(some, n), e);
  });
  std::thread forth([&] {
    std::array<char, 4096> some;
    std::error_code e;
    for (std::size_t n; (n = from.read_some(asio::buffer(some), e)) > 0 && !e;) {
      record.append(some.data(), n);
      asio::write(to, asio::buffer(some, n), e);
    }
  });
  REQUIRE(says->wait_up());
  link->send(head(1, 1), give(pattern(100, 1)));
  link->close("done");
  REQUIRE(says->wait_down());
  std::error_code e;
  from.shutdown(tcp::socket::shutdown_both, e);
  to.shutdown(tcp::socket::shutdown_both, e);
  forth.join();
  back.join();
  CHECK(welcomed == 1);

  tcp::socket again(io);
  again.connect(there);
  asio::write(again, asio::buffer(record), e);
  std::string answer(100'000, '\0');
  asio::read(again, asio::buffer(answer), e);  // until it is shown out
  CHECK(welcomed == 1);
}

TEST_CASE("TLS: runs over any stream, on a clock of the test's own") {
  virtual_loop loop;
  const auto network = std::make_shared<memory_network>();
  memory_carrier below(loop, network);
  const keys right = tls_keys::of_key(right_key);
  std::unique_ptr<tls_stream> a, b;
  below.listen("process:b",
               [&](stream_handle s) { b = std::make_unique<tls_stream>(loop, std::move(s), right, false); });
  below.dial("process:b", [&](const std::string&, stream_handle s) {
    a = std::make_unique<tls_stream>(loop, std::move(s), right, true);
  });
  const auto turn = [&] { loop.run_until(loop.now() + 1s); };
  turn();
  std::string at_a = "no answer", at_b = "no answer";
  a->shake_hands({"test", conform_worker, conform_ps}, [&](const stream_result& r) { at_a = r.why; });
  b->shake_hands({"test", {}, conform_ps}, [&](const stream_result& r) { at_b = r.why; });
  turn();
  CHECK(at_a == "");
  CHECK(at_b == "");
  CHECK(b->proven() == "test|/job:worker/task:1>/job:ps/task:0");

  // Many small parts and large ones, read in other pieces than they were written in.
  std::vector<std::vector<std::byte>> parts;
  std::vector<std::span<const std::byte>> views;
  std::vector<std::byte> whole;
  for (const std::size_t n : std::initializer_list<std::size_t>{1, 32, 5000, 16384, 100'000, 0, 16383, 7, 700'000}) {
    parts.push_back(pattern(n, n));
    whole.insert(whole.end(), parts.back().begin(), parts.back().end());
  }
  for (const auto& p : parts) views.emplace_back(p);
  bool written = false;
  a->write(views, [&](const stream_result& r) { written = r.why.empty(); });
  std::vector<std::byte> got(whole.size());
  std::size_t n = 0, calls = 0;
  std::function<void()> more = [&] {
    b->read(std::span(got).subspan(n, std::min<std::size_t>(got.size() - n, 50'000)), 1, [&](const stream_result& r) {
      n += r.bytes;
      ++calls;
      if (r.why.empty() && n < got.size()) more();
    });
  };
  more();
  turn();
  CHECK(written);
  CHECK(n == whole.size());
  CHECK((got == whole));
  CHECK(calls > 10);
  // What was written before the end is read before it, even if both come at once.
  const std::array<std::span<const std::byte>, 1> last{std::span(whole).first(10)};
  std::size_t before_end = 0;
  a->write(last, [&](const stream_result&) { a->close(); });
  turn();
  b->read(std::span(got).first(100), 1, [&](const stream_result& r) { before_end = r.bytes; });
  turn();
  CHECK(before_end == 10);
  // Nobody writes on.
  std::string end;
  b->read(got, 1, [&](const stream_result& r) { end = r.why; });
  turn();
  CHECK(end == "it has ended the connection");
}

TEST_CASE("TLS: certificates name tasks, and are of the cluster's authorities") {
  if (std::system("openssl version >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: no openssl command to make certificates with");
    return;
  }
  const auto directory =
      std::filesystem::temp_directory_path() / ("flowgraph-certificates-" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  const auto file = [&](const std::string& name) { return (directory / name).string(); };
  const auto run = [&](const std::string& command) {
    REQUIRE(std::system(("cd '" + directory.string() + "' && " + command + " >/dev/null 2>&1").c_str()) == 0);
  };
  const auto authority = [&](const std::string& name) {
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" + name + " -keyout " +
        name + ".key -out " + name + ".pem");
  };
  const auto issue = [&](const std::string& by, const std::string& name, const std::string& uri) {
    run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name + " -keyout " + name +
        ".key -out " + name + ".csr");
    std::ofstream(file(name + ".ext")) << "subjectAltName=URI:" << uri << "\n";
    run("openssl x509 -req -days 2 -in " + name + ".csr -CA " + by + ".pem -CAkey " + by +
        ".key -CAcreateserial -extfile " + name + ".ext -out " + name + ".pem");
  };
  authority("all");
  authority("others");
  issue("all", "ps", "flowgraph://test/job:ps/task:0");
  issue("all", "worker", "flowgraph://test/job:worker/task:1");
  issue("all", "elsewhere", "flowgraph://other/job:worker/task:1");
  issue("others", "forged", "flowgraph://test/job:worker/task:1");
  const auto of = [&](const std::string& name, const std::string& authorities = "all") {
    return tls_keys::of_certificates(file(name + ".pem"), file(name + ".key"), file(authorities + ".pem"));
  };
  {
    attempt a(of("worker"), of("ps"));
    REQUIRE(a.says->wait_up());
    CHECK(a.at_ps->wait_up());
    CHECK(a.at_ps->peer().name == conform_worker);
  }
  for (const char* name : {"elsewhere", "forged", "ps"}) {
    attempt a(of(name), of("ps"));
    CHECK_MESSAGE(a.refusal() != "it was let in", name);
    CHECK_FALSE(a.at_ps->up_now());
  }
  {
    attempt a(of("worker"), of("worker"));  // who answers has no certificate of ps
    CHECK_MESSAGE(has(a.refusal(), "its certificate is of \"flowgraph://test/job:worker/task:1\""), a.refusal());
  }
  {
    attempt a(tls_keys::of_key(right_key), of("ps"));
    CHECK(a.refusal() != "it was let in");
  }
  CHECK_THROWS_AS(of("nobody"), cluster_error);
  CHECK_THROWS_AS(tls_keys::of_certificates(file("ps.pem"), file("worker.key"), file("all.pem")), cluster_error);
  CHECK_THROWS_AS(tls_keys::of_key("short"), cluster_error);
  std::filesystem::remove_all(directory);
}

TEST_CASE("Unix sockets: another user is refused by both ends") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can be somebody else");
    return;
  }
  const std::string path = "/tmp/flowgraph-user-" + std::to_string(::getpid());
  const pid_t other = ::fork();
  if (other == 0) {  // nobody, who has the file opened to it
    for (int i = 0; i < 1000 && ::access((path + ".open").c_str(), F_OK) != 0; ++i) ::usleep(10'000);
    if (::setuid(65534) != 0) ::_exit(9);
    asio::io_context io;
    asio::local::stream_protocol::socket s(io);
    std::error_code e;
    s.connect({path}, e);
    if (e) ::_exit(8);
    std::string answer(10, '\0');
    asio::write(s, asio::buffer(hello_frame()), e);
    const std::size_t n = asio::read(s, asio::buffer(answer), e);
    ::_exit(n == 0 ? 0 : 7);
  }
  const auto loop = std::make_unique<asio_loop>();
  endpoint ps(*loop, quick(conform_ps));
  ps.add(std::make_unique<unix_carrier>(*loop));
  std::atomic<int> welcomed{0};
  ps.listen("unix:" + path, [&](const peer_info&, const std::shared_ptr<peer_link>&, std::string&) {
    ++welcomed;
    return std::make_shared<notes>();
  });
  namespace fs = std::filesystem;
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  fs::permissions(path, fs::perms::all);
  std::ofstream(path + ".open") << "yes";
  int status = 0;
  REQUIRE(::waitpid(other, &status, 0) == other);
  fs::remove(path + ".open");
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(welcomed == 0);
}

TEST_CASE("Unix sockets: a file that a task left behind is taken over, that of a living one is not") {
  const std::string path = "/tmp/flowgraph-left-" + std::to_string(::getpid()), address = "unix:" + path;
  {
    asio::io_context io;
    asio::local::stream_protocol::acceptor left(io, {path});
  }
  REQUIRE(std::filesystem::exists(path));
  const auto loop = std::make_unique<asio_loop>();
  const auto nobody = [](const peer_info&, const std::shared_ptr<peer_link>&, std::string&) {
    return std::shared_ptr<notes>();
  };
  {
    endpoint ps(*loop, quick(conform_ps)), other(*loop, quick({"ps", 1}));
    for (endpoint* e : {&ps, &other}) e->add(std::make_unique<unix_carrier>(*loop));
    CHECK(ps.listen(address, nobody) == address);
    CHECK_THROWS_AS(other.listen(address, nobody), argument_error);
    CHECK_THROWS_AS(other.listen("unix:/no/such/directory/socket", nobody), argument_error);
    CHECK_THROWS_AS(other.listen("unix:" + std::string(108, 'x'), nobody), argument_error);
    CHECK_THROWS_AS(other.listen("tcp://10.0.0.1", nobody), argument_error);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("addresses of hosts") {
  host_port at;
  CHECK(parse_host_port("ps0.example:4711", at));
  CHECK(at.host == "ps0.example");
  CHECK(at.port == "4711");
  CHECK(parse_host_port("[::1]:1", at));
  CHECK(at.host == "::1");
  for (const char* text :
       {"", ":1", "host", "host:", "host:65536", "host:-1", "host:1x", "::1:1", "a b:1", "[::1:1", "[]:1"})
    CHECK_FALSE_MESSAGE(parse_host_port(text, at), text);
}

TEST_CASE("a port that is taken is an error that names it") {
  const auto loop = std::make_unique<asio_loop>();
  const auto nobody = [](const peer_info&, const std::shared_ptr<peer_link>&, std::string&) {
    return std::shared_ptr<notes>();
  };
  endpoint a(*loop, quick(conform_ps)), b(*loop, quick(conform_worker));
  for (endpoint* e : {&a, &b}) e->add(std::make_unique<tcp_carrier>(*loop, nullptr, 2s));
  const std::string at = a.listen("127.0.0.1:0", nobody);
  try {
    b.listen(at, nobody);
    FAIL("nothing was thrown");
  } catch (const argument_error& e) {
    CHECK_MESSAGE(has(e.what(), at), e.what());
    CHECK(e.why() == problem::address_taken);
  }
  CHECK_THROWS_AS(b.listen("192.0.2.1:0", nobody), argument_error);  // not of this machine
}
