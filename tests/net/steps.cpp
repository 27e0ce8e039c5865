// Parts of steps that meet over links.
#include <flowgraph/net/link_rendezvous.hpp>

#include <future>

#include <doctest/doctest.h>

#include <flowgraph/net/endpoint.hpp>
#include <flowgraph/net/memory_carrier.hpp>
#include <flowgraph/net/thread_loop.hpp>
#include <flowgraph/net/virtual_loop.hpp>

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

// b receives from a and from c, who know nothing of each other.
TEST_CASE("a failure reaches tasks by those between") {
  using rendezvous_conformance::ends, rendezvous_conformance::kind;
  const std::vector<kind> kinds(2);
  const task_name task_c{"c", 0};
  plan_data of_a = rendezvous_conformance::plan_of(kinds, ends::sends), of_c = of_a,
            of_b = rendezvous_conformance::plan_of(kinds, ends::receives);
  of_a.channels[1].send = of_c.channels[0].send = -1;
  const int begin = of_b.chars.count;
  const std::string_view device = "/job:c/task:0/cpu:0";
  for (const char x : device) of_b.chars.push(x);
  of_b.channels[1].from = of_b.devices.push({begin, static_cast<int>(device.size())});

  for (const bool cut : {false, true}) {
    virtual_loop loop;
    const auto network = std::make_shared<memory_network>();
    link_source a, b, c;
    a.add(1, of_a.view()), b.add(1, of_b.view()), c.add(1, of_c.view());
    endpoint at_a(loop, options_of(task_a)), at_b(loop, options_of(task_b)), at_c(loop, options_of(task_c));
    for (endpoint* const e : {&at_a, &at_b, &at_c}) e->add(std::make_unique<memory_carrier>(loop, network));
    at_b.listen("process:b", [&](const peer_info& p, const std::shared_ptr<peer_link>& l, std::string&) {
      auto r = b.meet(p.name);
      r->goes_over(l);
      return r;
    });
    const auto connect = [&](link_source& from, endpoint& at) {
      auto r = from.meet(task_b);
      auto l = at.connect(task_b, "process:b", r, loop.now() + 20s);
      r->goes_over(l);
      return l;
    };
    const auto link_of_a = connect(a, at_a), link_of_c = connect(c, at_c);
    loop.run_until(loop.now() + 10ms);
    const auto in_a = a.make(of_a.view()), in_b = b.make(of_b.view()), in_c = c.make(of_c.view());
    std::vector<std::byte> memory(256);
    const std::int64_t four = 4;
    const std::vector<array_view> landings(2, {memory.data(), &four, 1, dtype::float32}), none(2);
    in_a->begin({1, none}), in_b->begin({1, landings}), in_c->begin({1, none});
    rendezvous_conformance::end_of sends(*in_c, 1, true, kinds[1]);
    sends.send(1);
    rendezvous_conformance::noting w;
    CHECK(!sends.begin(2, w));
    loop.run_until(loop.now() + 10ms);
    CHECK(w.woken() == 0);
    if (cut)
      link_of_a->close("the test has cut it");
    else
      in_a->abort(problem::not_finite, "a kernel has failed");
    loop.run_until(loop.now() + 10ms);
    REQUIRE(w.woken() == 1);
    if (cut) {
      const std::string text = rendezvous_conformance::text_of<peer_error>([&] { sends.finish(); });
      CHECK_MESSAGE(text.starts_with("/job:b/task:0: /job:a/task:0: "), text);
    } else {
      const std::string text = rendezvous_conformance::text_of<execution_error>([&] { sends.finish(); });
      CHECK(text == "/job:b/task:0: /job:a/task:0: a kernel has failed");
    }
    in_a->end(), in_b->end(), in_c->end();
  }
}
