// Links on a clock and a network of the test's own: what frames do, step by step.
#include <doctest/doctest.h>

#include <flowgraph/net/memory_carrier.hpp>
#include <flowgraph/net/virtual_loop.hpp>

#include "support.hpp"

namespace {

using namespace net_test;
using namespace std::chrono_literals;

const task_name ps{"ps", 0}, worker{"worker", 1};

// Two tasks in one loop.
struct two_tasks {
  virtual_loop loop;
  std::shared_ptr<memory_network> network = std::make_shared<memory_network>();
  endpoint a, b;
  std::shared_ptr<notes> at_a, at_b;
  std::shared_ptr<peer_link> from_a, from_b;

  two_tasks(endpoint_options oa = options_of(worker), endpoint_options ob = options_of(ps),
            std::shared_ptr<notes> na = std::make_shared<notes>(),
            std::shared_ptr<notes> nb = std::make_shared<notes>())
      : a(loop, std::move(oa)),
        b(loop, std::move(ob)),
        at_a(std::move(na)),
        at_b(std::move(nb)) {
    a.add(std::make_unique<memory_carrier>(loop, network));
    b.add(std::make_unique<memory_carrier>(loop, network));
  }
  void listen() {
    b.listen("process:ps", [this](const peer_info&, const std::shared_ptr<peer_link>& l, std::string&) {
      from_b = l;
      return at_b;
    });
  }
  void connect(const task_name& to = ps, net_clock::duration patience = 10s) {
    from_a = a.connect(to, "process:ps", at_a, loop.now() + patience);
  }
  void meet() {
    listen();
    connect();
    run(10ms);
    REQUIRE(at_a->up_now());
    REQUIRE(at_b->up_now());
  }
  void run(net_clock::duration d) { loop.run_until(loop.now() + d); }
};

}  // namespace

TEST_CASE("a head is what was encoded; a changed byte makes it none") {
  const frame_head h{
      .kind = 40, .flags = 3, .session = 5, .channel = 0xA1B2C3D4, .step = 1ull << 60, .turn = 9, .bytes = 1 << 20};
  const head_text t = encode(h);
  frame_head got;
  REQUIRE(decode(t, got));
  CHECK(got == h);
  for (std::size_t i = 0; i < t.size(); ++i) {
    head_text changed = t;
    changed[i] ^= std::byte{0x10};
    CHECK_FALSE(decode(changed, got));
  }
}

TEST_CASE("a task has one name") {
  task_name t;
  CHECK(parse_task("/job:worker/task:2", t));
  CHECK(t == task_name{"worker", 2});
  for (const char* text :
       {"", "/job:worker", "/task:1", "/job:worker/task:02", "/job:worker/task:-1", "/job:w,x/task:1",
        "/job:w/task:1/cpu:0", "job:w/task:1", "/job:w/task:100000", "/task:1/job:w", "/job:a>b/task:0"})
    CHECK_FALSE_MESSAGE(parse_task(text, t), text);
}

TEST_CASE("two tasks of a process meet, and know each other") {
  two_tasks t;
  t.meet();
  CHECK(t.at_a->peer().name == ps);
  CHECK(t.at_b->peer().name == worker);
  CHECK(t.at_b->peer().via == "process");
  t.from_a->send(head(7, 3), give(pattern(100, 1)));
  t.from_b->send(head(8), {});
  t.run(1ms);
  const auto b = t.at_b->take_arrivals();
  REQUIRE(b.size() == 1);
  CHECK(b[0].head.step == 3);
  CHECK(b[0].body == pattern(100, 1));
  CHECK(t.at_a->take_arrivals().size() == 1);
}

TEST_CASE("what is sent before the link is up arrives") {
  two_tasks t;
  tally done;
  t.connect();
  t.from_a->send(head(1), give(pattern(10, 1), &done));
  t.run(500ms);  // nobody listens yet
  CHECK(done.total() == 0);
  t.listen();
  t.run(2s);
  CHECK(t.at_b->count() == 1);
  CHECK(done.of(delivery::sent) == 1);
}

TEST_CASE("a task that never comes is an error that names it and its address, in time") {
  two_tasks t;
  tally done;
  t.connect(ps, 3s);
  t.from_a->send(head(1), give(pattern(10, 1), &done));
  t.run(2900ms);
  t.run(200ms);
  REQUIRE(t.at_a->error() != nullptr);
  CHECK(t.at_a->why() == problem::peer_absent);
  const std::string what = t.at_a->error()->what();
  CHECK(what.starts_with("/job:ps/task:0: no connection to process:ps: nobody listens there"));
  CHECK(done.of(delivery::link_down) == 1);
  CHECK(t.a.links() == 0);
  t.from_a->send(head(1), give({}, &done));  // too late: told at once
  CHECK(done.of(delivery::link_down) == 2);
}

TEST_CASE("who is not meant is refused, and both say why") {
  const auto refused = [](endpoint_options a, endpoint_options b, const task_name& to, const std::string& why) {
    two_tasks t(std::move(a), std::move(b));
    t.listen();
    t.connect(to);
    t.run(100ms);
    REQUIRE(t.at_a->error() != nullptr);
    CHECK(t.at_a->why() == problem::peer_refused);
    const std::string what = t.at_a->error()->what();
    CHECK_MESSAGE(what.find(why) != std::string::npos, what);
    CHECK_FALSE(t.at_b->up_now());
    CHECK(t.b.links() == 0);
    CHECK(t.a.links() == 0);
  };
  endpoint_options other = options_of(worker);
  other.cluster = "other";
  refused(other, options_of(ps), ps, "they are of different clusters");
  refused(options_of(worker), options_of(ps), {"ps", 1}, "it looks for /job:ps/task:1, and this is /job:ps/task:0");
  refused(options_of(ps), options_of(ps), ps, "a task does not connect to itself");
  endpoint_options a = options_of(worker), b = options_of(ps);
  a.fingerprint = 1;
  b.fingerprint = 2;
  refused(a, b, ps, "compiled from different models");
}

TEST_CASE("large payloads wait for a place, and small ones of other channels do not wait for them") {
  std::vector<std::byte> place;
  frame_head offered{};
  const auto nb = std::make_shared<notes>([&](const frame_head& h) -> placement {
    if (h.channel != 1) return {placement::what::here, nullptr};
    offered = h;
    return {placement::what::later, nullptr};
  });
  two_tasks t(options_of(worker), options_of(ps), std::make_shared<notes>(), nb);
  t.meet();
  const auto large = pattern(1'000'000, 5);
  t.from_a->send(head(1, 1), lend(large));
  t.from_a->send(head(1, 2), {});  // of the same channel: behind it
  t.from_a->send(head(2, 3), give(pattern(10, 6)));
  t.run(10ms);
  auto got = nb->take_arrivals();
  REQUIRE(got.size() == 1);
  CHECK(got[0].head.step == 3);
  CHECK(offered.bytes == large.size());
  place.resize(large.size());
  t.from_b->take(offered, place.data());
  t.run(10ms);
  got = nb->take_arrivals();
  REQUIRE(got.size() == 2);
  CHECK(got[0].head.step == 1);
  CHECK(got[1].head.step == 2);
  CHECK(place == large);
}

TEST_CASE("what nobody wants is dropped, and the sender is told of what was not sent") {
  const auto nb = std::make_shared<notes>([](const frame_head&) { return placement{placement::what::drop, nullptr}; });
  two_tasks t(options_of(worker), options_of(ps), std::make_shared<notes>(), nb);
  t.meet();
  tally done;
  t.from_a->send(head(1), give(pattern(1'000'000, 1), &done));
  t.from_a->send(head(2), give(pattern(100, 1), &done));
  t.run(10ms);
  CHECK(done.of(delivery::dropped) == 1);
  CHECK(done.of(delivery::sent) == 1);
  CHECK(nb->count() == 0);
  for (int i = 0; i < 100; ++i) t.from_a->send(head(2), give(pattern(60'000, 1), &done));  // the room comes back
  t.run(10ms);
  CHECK(done.of(delivery::sent) == 101);
}

TEST_CASE("a payload that is refused ends the link, and the sender learns which it was") {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{1'000'000}}) {
    const auto nb = std::make_shared<notes>([](const frame_head&) {
      return placement{placement::what::refuse, nullptr};
    });
    two_tasks t(options_of(worker), options_of(ps), std::make_shared<notes>(), nb);
    t.meet();
    t.from_a->send(head(9), give(pattern(bytes, 1)));
    t.run(5s);
    CHECK(nb->why() == problem::peer_protocol);
    REQUIRE(t.at_a->error() != nullptr);
    const std::string what = t.at_a->error()->what(),
                      wanted = "a payload of " + std::to_string(bytes) + " bytes on channel 9 was refused";
    CHECK_MESSAGE(what.find(wanted) != std::string::npos, what);
    CHECK(t.a.links() + t.b.links() == 0);
  }
}

TEST_CASE("no more lies aside than there is credit for, and control passes it by") {
  std::vector<std::vector<std::byte>> aside;
  const auto nb = std::make_shared<notes>([&](const frame_head& h) -> placement {
    if (h.channel == control_channel) return {placement::what::here, nullptr};
    aside.emplace_back(h.bytes);
    return {placement::what::aside, aside.back().data()};
  });
  two_tasks t(options_of(worker), options_of(ps), std::make_shared<notes>(), nb);
  t.meet();
  for (std::uint32_t i = 0; i < 64; ++i) t.from_a->send(head(1 + i), give(pattern(early_bytes, i)));
  t.run(100ms);
  CHECK(nb->count() == early_window / early_bytes);
  t.from_a->send(head(control_channel), give(pattern(early_bytes, 1)));
  t.run(100ms);
  CHECK(nb->count() == early_window / early_bytes + 1);
  t.from_b->give_back(early_bytes);  // one leaves, one comes
  t.run(100ms);
  CHECK(nb->count() == early_window / early_bytes + 2);
  for (int i = 0; i < 63; ++i) {
    t.from_b->give_back(early_bytes);
    t.run(1ms);
  }
  t.run(100ms);
  CHECK(nb->count() == 65);
}

TEST_CASE("who is silent is gone after the patience of the other, and not before") {
  two_tasks t;
  t.meet();
  t.run(60s);  // beats keep it up
  CHECK(t.at_a->error() == nullptr);
  CHECK(t.at_b->error() == nullptr);
}

TEST_CASE("a link ends in order when both have drained, and what was sent has arrived") {
  two_tasks t;
  t.meet();
  for (std::uint32_t i = 0; i < 10; ++i) t.from_a->send(head(1, i), give(pattern(200'000, i)));
  bool a_done = false;
  t.a.drain(t.loop.now() + 10s, [&] { a_done = true; });
  t.run(100ms);
  CHECK(t.at_b->count() == 10);
  CHECK(t.at_b->saw_draining());
  CHECK_FALSE(a_done);
  t.from_b->send(head(1), {});  // it may still say something
  t.from_b->drain();
  t.run(100ms);
  CHECK(a_done);
  CHECK(t.at_a->count() == 1);
  CHECK(t.at_a->why() == problem::peer_drained);
  CHECK(t.at_b->why() == problem::peer_drained);
}

TEST_CASE("a drain ends by its deadline") {
  two_tasks t;
  t.meet();
  bool done = false;
  t.a.drain(t.loop.now() + 2s, [&] { done = true; });
  t.run(1900ms);
  CHECK_FALSE(done);
  t.run(200ms);
  CHECK(done);
  CHECK(t.at_a->why() == problem::link_closed);
  CHECK(t.at_b->why() == problem::peer_lost);
}

TEST_CASE("another start of a task takes the place of the former, which can't come back") {
  two_tasks t(options_of(worker, 10));
  t.meet();
  const auto first = t.at_b;
  t.at_b = std::make_shared<notes>();
  endpoint again(t.loop, options_of(worker, 11));
  again.add(std::make_unique<memory_carrier>(t.loop, t.network));
  const auto at_again = std::make_shared<notes>();
  const auto l = again.connect(ps, "process:ps", at_again, t.loop.now() + 5s);
  t.run(10ms);
  CHECK(at_again->up_now());
  CHECK(t.at_b->peer().incarnation == 11);
  CHECK(first->why() == problem::peer_lost);
  CHECK(std::string(first->error()->what()).find("it has been started again") != std::string::npos);
  CHECK(t.at_a->why() == problem::peer_lost);
  const auto late = std::make_shared<notes>();
  t.a.connect(ps, "process:ps", late, t.loop.now() + 5s);
  t.run(10ms);
  CHECK(late->why() == problem::peer_refused);
  CHECK(at_again->error() == nullptr);
}
