// Parts of steps that meet over links.
#include <flowgraph/net/link_rendezvous.hpp>

#include <future>

#include <doctest/doctest.h>

#include <flowgraph/net/endpoint.hpp>
#include <flowgraph/net/memory_carrier.hpp>
#include <flowgraph/net/thread_loop.hpp>

#include "support.hpp"
#include "support/rendezvous_conformance.hpp"

namespace {

using namespace net_test;
using namespace std::chrono_literals;

const task_name task_a{"a", 0}, task_b{"b", 0};

// Two tasks, each with a loop of its own, and a link between them.
struct pair_of_tasks {
  thread_loop loop_a, loop_b;
  std::shared_ptr<memory_network> network = std::make_shared<memory_network>();
  link_source a, b;
  std::unique_ptr<endpoint> at_a, at_b;

  pair_of_tasks() {
    at_a = std::make_unique<endpoint>(loop_a, options_of(task_a));
    at_b = std::make_unique<endpoint>(loop_b, options_of(task_b));
    at_a->add(std::make_unique<memory_carrier>(loop_a, network));
    at_b->add(std::make_unique<memory_carrier>(loop_b, network));
    at_b->listen("process:b", [this](const peer_info& p, const std::shared_ptr<peer_link>& l, std::string&) {
      auto r = b.meet(p.name);
      r->goes_over(l);
      ready.set_value();
      return r;
    });
    auto r = a.meet(task_b);
    r->goes_over(at_a->connect(task_b, "process:b", r, loop_a.now() + 20s));
    ready.get_future().wait();
  }

  std::promise<void> ready;
};

}  // namespace

TEST_CASE("rendezvous: links between tasks") {
  std::vector<std::unique_ptr<pair_of_tasks>> tasks;
  rendezvous_conformance::run_all([&](const rendezvous_conformance::plans& p) {
    tasks.push_back(std::make_unique<pair_of_tasks>());
    pair_of_tasks& t = *tasks.back();
    t.a.add(1, p.sends.view());
    t.b.add(1, p.receives.view());
    return rendezvous_conformance::sides{t.a.make(p.sends.view()), t.b.make(p.receives.view())};
  });
}
