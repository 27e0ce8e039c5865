// A program for the launcher: servers send back what workers send them, workers look whether it is the same. Arguments
// plant what can go wrong:  fail worker:1   status 3;  hang worker:1   forever, whoever asks it to end.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <flowgraph/net/open_network.hpp>

#include "../support.hpp"

namespace fg = flowgraph;
using namespace net_test;
using namespace std::chrono_literals;

namespace {

// Whoever has drained its link has nothing more to say.
int serve(network& n) {
  std::mutex mutex;
  std::condition_variable changed;
  int here = 0, left = 0;
  listen(n, [&](const peer_info& p, const std::shared_ptr<peer_link>& l, std::string&) {
    const auto r = std::make_shared<notes>();
    const std::weak_ptr<notes> weak = r;
    r->on_arrival([weak, l](const frame_head& h) {
      for (auto& a : weak.lock()->take_arrivals()) l->send(h, give(std::move(a.body)));
    });
    r->on_draining([&, l] {
      l->drain();
      const std::lock_guard lock(mutex);
      ++left;
      changed.notify_all();
    });
    const std::lock_guard lock(mutex);
    std::printf("%s came by %s\n", p.name.text().c_str(), p.via.c_str());
    std::fflush(stdout);
    ++here;
    return r;
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return left == n.cluster.tasks("worker"); });
  lock.unlock();
  std::promise<void> done;
  n.at->drain(n.loop->now() + 5s, [&] { done.set_value(); });
  done.get_future().wait();
  return here == n.cluster.tasks("worker") ? 0 : 1;
}

int work(network& n) {
  listen(n, [](const peer_info&, const std::shared_ptr<peer_link>&, std::string& why) {
    why = "a worker takes no connections";
    return std::shared_ptr<link_receiver>();
  });
  int wrong = 0;
  for (int i = 0; i < n.cluster.tasks("ps"); ++i) {
    const auto r = std::make_shared<notes>();
    const auto l = connect(n, {"ps", i}, r, n.loop->now() + 20s);
    const auto sent = pattern(300'000, static_cast<std::uint64_t>(i));
    l->send(head(1, 7), lend(sent));
    if (!r->wait_arrivals(1)) {
      std::printf("no answer: %s\n", r->error() != nullptr ? r->error()->what() : "in time");
      return 1;
    }
    const bool same = r->take_arrivals()[0].body == sent;
    std::printf("ps %d: %s\n", i, same ? "the same" : "something else");
    wrong += same ? 0 : 1;
    l->drain();
    r->wait_down();
  }
  return wrong;
}

}  // namespace

int main(int count, char** arguments) try {
  network n = open_network(fg::cluster::from_environment(), {}, 1);
  const std::string self = n.cluster.job() + ":" + std::to_string(n.cluster.task());
  if (count > 2 && self == arguments[2]) {
    if (std::string(arguments[1]) == "fail") return 3;
    std::signal(SIGTERM, SIG_IGN);
    std::puts("hangs");
    std::fflush(stdout);
    for (;;) std::this_thread::sleep_for(1h);
  }
  return n.cluster.job() == "ps" ? serve(n) : work(n);
} catch (const fg::error& e) {
  std::printf("%s\n", e.what());
  return 2;
}
