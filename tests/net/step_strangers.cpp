// What a peer may say of steps, and what it may not: it is refused, by what is known of the step, and nothing is made
// as large as it says.
#include <flowgraph/net/link_rendezvous.hpp>

#include <doctest/doctest.h>

#include <flowgraph/net/endpoint.hpp>
#include <flowgraph/net/memory_carrier.hpp>
#include <flowgraph/net/virtual_loop.hpp>

#include "support.hpp"
#include "support/rendezvous_conformance.hpp"

namespace {

using namespace net_test;
using namespace std::chrono_literals;
using rendezvous_conformance::end_of;
using rendezvous_conformance::kind;
using rendezvous_conformance::noting;

const task_name task_a{"a", 0}, task_b{"b", 0}, task_c{"c", 0};
const std::vector<kind> kinds{{4, false}, {4, true}, {4, false, true}, {100'000, false}};

// A task that says what it likes, and one that receives (session 1) and sends (session 2) as it should.
struct liar {
  virtual_loop loop;
  std::shared_ptr<memory_network> network = std::make_shared<memory_network>();
  rendezvous_conformance::plans there{kinds}, back{kinds};
  link_source b;
  endpoint at_a, at_b{loop, options_of(task_b)};
  std::shared_ptr<notes> heard = std::make_shared<notes>();
  std::shared_ptr<peer_link> says;
  std::unique_ptr<rendezvous> receives, sends;
  std::vector<std::vector<float>> memory;
  std::vector<array_view> landings, none{kinds.size()};

  explicit liar(const task_name& name = task_a) : at_a(loop, options_of(name)) {
    for (plan_data* p : {&back.sends, &back.receives}) std::swap(p->devices[0], p->devices[1]);
    b.add(1, there.receives.view()), b.add(2, back.sends.view());
    receives = b.make(there.receives.view()), sends = b.make(back.sends.view());
    at_a.add(std::make_unique<memory_carrier>(loop, network));
    at_b.add(std::make_unique<memory_carrier>(loop, network));
    at_b.listen("process:b", [this](const peer_info& p, const std::shared_ptr<peer_link>& l, std::string&) {
      auto r = b.meet(p.name);
      r->goes_over(l);
      return r;
    });
    says = at_a.connect(task_b, "process:b", heard, loop.now() + 20s);
    for (const kind& k : kinds) {
      memory.emplace_back(static_cast<std::size_t>(2 * (k.elements + 16)));
      landings.push_back(k.news ? array_view() : array_view{memory.back().data(), &k.elements, 1, dtype::float32});
    }
    run();
    REQUIRE(heard->up_now());
  }
  ~liar() { receives->end(), sends->end(); }
  void run() { loop.run_until(loop.now() + 100ms); }
  void begin(std::uint64_t step) { receives->begin({step, landings}), sends->begin({step, none}); }
  void say(step_kind k, std::uint16_t session, std::uint32_t channel, std::uint64_t step, std::uint32_t turn,
           std::uint64_t bytes) {
    frame_head h;
    h.kind = static_cast<std::uint8_t>(k);
    h.session = session, h.channel = channel, h.step = step, h.turn = turn;
    // Of what is only offered, nobody reads the bytes.
    says->send(h, bytes > early_bytes ? payload{this, bytes} : give(pattern(bytes, 1)));
    run();
  }
};

constexpr auto value = step_kind::value, taken = step_kind::taken, failed = step_kind::failed;

}  // namespace

TEST_CASE("what does not fit a step ends the link, and the step with it") {
  struct lie {
    const char* what;
    std::function<void(liar&)> tell;
  };
  const lie lies[] = {
      {"no such session", [](liar& l) { l.say(value, 3, 1, 1, 0, 16); }},
      {"no such session, news", [](liar& l) { l.say(value, 3, 1, 1, 0, 0); }},
      {"no such channel", [](liar& l) { l.say(value, 1, 5, 1, 0, 16); }},
      {"the last channel that a head can name", [](liar& l) { l.say(value, 1, 0xFFFFFFFF, 1, 0, 16); }},
      {"a value on the control channel", [](liar& l) { l.say(value, 1, 0, 1, 0, 16); }},
      {"the wrong direction", [](liar& l) { l.say(value, 2, 1, 1, 0, 16); }},
      {"too few bytes", [](liar& l) { l.say(value, 1, 1, 1, 0, 12); }},
      {"no bytes", [](liar& l) { l.say(value, 1, 1, 1, 0, 0); }},
      {"too many bytes", [](liar& l) { l.say(value, 1, 1, 1, 0, 20); }},
      {"as many bytes as a head can say", [](liar& l) { l.say(value, 1, 4, 1, 0, max_payload_bytes); }},
      {"bytes of news", [](liar& l) { l.say(value, 1, 3, 1, 0, 4); }},
      {"another turn", [](liar& l) { l.say(value, 1, 2, 1, 1, 16); }},
      {"a turn twice", [](liar& l) { l.say(value, 1, 2, 1, 0, 16), l.say(value, 1, 2, 1, 0, 16); }},
      {"a turn beyond credit",
       [](liar& l) {
         for (std::uint32_t t = 0; t < 3; ++t) l.say(value, 1, 2, 1, t, 16);
       }},
      {"news beyond credit", [](liar& l) { l.say(value, 1, 3, 1, 0, 0), l.say(value, 1, 3, 1, 1, 0); }},
      {"taken, and nothing was sent", [](liar& l) { l.say(taken, 2, 1, 1, 0, 0); }},
      {"taken, with bytes", [](liar& l) { l.say(taken, 2, 1, 1, 0, 8); }},
      {"taken by the sender", [](liar& l) { l.say(taken, 1, 1, 1, 0, 0); }},
      {"taken of a step that has not begun", [](liar& l) { l.say(taken, 2, 1, 7, 0, 0); }},
      {"a reason too long", [](liar& l) { l.say(failed, 1, 0, 1, 0, max_reason_bytes + 1); }},
      {"a failure on a channel", [](liar& l) { l.say(failed, 1, 1, 1, 0, 10); }},
      {"a failure of no session", [](liar& l) { l.say(failed, 9, 0, 1, 0, 10); }},
      {"another kind", [](liar& l) { l.say(static_cast<step_kind>(77), 1, 1, 1, 0, 16); }},
      {"another kind, without bytes", [](liar& l) { l.say(static_cast<step_kind>(77), 1, 1, 1, 0, 0); }},
  };
  for (const lie& x : lies) {
    CAPTURE(x.what);
    liar l;
    end_of last(*l.receives, 3, false, kinds[3]), sends(*l.sends, 0, true, kinds[0]);
    l.begin(1);
    noting w;
    CHECK(!last.begin(w));
    x.tell(l);
    CHECK(l.heard->error() != nullptr);
    REQUIRE(w.woken() == 1);
    CHECK_THROWS_AS(last.finish(), peer_error);
    REQUIRE(sends.begin(1, w));
    CHECK_THROWS_AS(sends.finish(), peer_error);
  }
}

TEST_CASE("what came before its step began is held to the same, when it begins") {
  for (const int lie : {0, 1, 2, 3, 4}) {
    CAPTURE(lie);
    liar l;
    end_of last(*l.receives, 3, false, kinds[3]);
    if (lie == 0) l.say(value, 1, 1, 1, 0, 20);
    if (lie == 1) l.say(value, 1, 1, 1, 0, 0);
    if (lie == 2) l.say(value, 1, 4, 1, 0, max_payload_bytes);
    if (lie == 3) l.say(value, 1, 3, 1, 0, 8);
    CHECK(l.heard->error() == nullptr);
    if (lie == 4) l.say(value, 1, 2, 1, 0, 16), l.say(value, 1, 2, 1, 1, 16), l.say(value, 1, 2, 1, 2, 16);
    l.begin(1);
    noting w;
    if (!last.begin(w)) {
      l.run();
      REQUIRE(w.woken() == 1);
    }
    CHECK_THROWS_AS(last.finish(), peer_error);
    CHECK(l.heard->error() != nullptr);
  }
}

TEST_CASE("no more steps are remembered before they begin than there is room for") {
  liar l;
  for (std::uint64_t step = 1; step <= max_early_steps; ++step) l.say(value, 1, 3, step, 0, 0);
  CHECK(l.heard->error() == nullptr);
  l.say(value, 1, 3, 5'000, 0, 0);
  CHECK(l.heard->error() != nullptr);
}

TEST_CASE("small values lie aside until their step begins or is given up, and their room comes back") {
  liar many;
  for (std::uint64_t step = 1; step <= 200; ++step) {
    many.say(value, 1, 2, step, 0, 60'000);   // of any size, as long as it has not begun
    many.say(value, 1, 4, step, 0, 400'000);  // offered, and dropped
    many.b.give_up(1, step, problem::cancelled, "not here");
    many.run();
    // Each time the peer hears why nobody takes it.
    const auto told = many.heard->take_arrivals();
    REQUIRE(told.size() == 1);
    CHECK(told[0].head.kind == static_cast<std::uint8_t>(failed));
    CHECK(problem_of(told[0].head.turn) == problem::cancelled);
    CHECK(std::string(reinterpret_cast<const char*>(told[0].body.data()), told[0].body.size()) == "not here");
  }
  CHECK(many.heard->error() == nullptr);
}

TEST_CASE("small values that came early leave room for others when their step begins") {
  const kind longer{15'000, false};
  liar l;
  std::vector<float> memory_of_it(15'016), result(15'000);
  l.landings[0] = {memory_of_it.data(), &longer.elements, 1, dtype::float32};
  end_of first(*l.receives, 0, false, longer);
  first.lies(result.data());
  for (std::uint64_t step = 1; step <= 100; ++step) {
    l.say(value, 1, 1, step, 0, 60'000);
    l.receives->begin({step, l.landings});
    noting w;
    REQUIRE(first.begin(w));
    first.finish();
    l.receives->end();
    l.run();
  }
  CHECK(l.heard->count() == 100);  // each was taken
  CHECK(l.heard->error() == nullptr);
}

TEST_CASE("what came early over a link that is gone is no part of a step any more") {
  liar l;
  l.say(value, 1, 1, 1, 0, 16);
  l.say(value, 1, 2, 2, 0, 16);
  l.says->close("the test has cut it");
  l.run();
  l.heard = std::make_shared<notes>();
  l.says = l.at_a.connect(task_b, "process:b", l.heard, l.loop.now() + 20s);
  l.run();
  REQUIRE(l.heard->up_now());
  end_of first(*l.receives, 0, false, kinds[0]);
  noting w;
  for (std::uint64_t step = 1; step <= 2; ++step) {
    l.begin(step);
    REQUIRE(first.begin(w));
    CHECK_THROWS_AS(first.finish(), peer_error);
  }
  l.begin(3);
  l.say(value, 1, 1, 3, 0, 16);
  REQUIRE(first.begin(w));
  first.finish();
  CHECK(l.heard->error() == nullptr);
}

TEST_CASE("who sends for a step that is over is told so") {
  liar l;
  l.begin(1);
  l.receives->end();
  l.say(value, 1, 1, 1, 0, 16);
  l.say(value, 1, 3, 1, 0, 0);
  l.say(taken, 2, 1, 0xFFFFFFFFFFFFull, 0, 0);  // of no step: this one is no answer
  const auto told = l.heard->take_arrivals();
  REQUIRE(told.size() >= 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(told[i].head.kind == static_cast<std::uint8_t>(failed));
    CHECK(told[i].head.step == 1);
  }
}

TEST_CASE("what is still on its way for a step that has ended does not touch the values of the next one") {
  const kind longer{15'000, false};
  const std::vector<std::byte> large = pattern(400'000, 1), small = pattern(60'000, 2);
  for (int moment = 0; moment < 40; ++moment) {
    CAPTURE(moment);
    liar l;
    std::vector<float> other(15'016);
    end_of first(*l.receives, 0, false, longer);
    std::vector<float> result(15'000);
    first.lies(result.data());
    l.receives->begin({1, l.landings});
    frame_head h = head(4, 1);
    h.kind = static_cast<std::uint8_t>(value), h.session = 1;
    l.says->send(h, lend(large));
    h.channel = 1, h.step = 2;
    l.says->send(h, lend(small));
    for (int i = 0; i < moment; ++i) l.loop.run_one(l.loop.now());
    l.receives->end();
    l.landings[0] = {other.data(), &longer.elements, 1, dtype::float32};
    l.landings[3] = l.landings[1];  // it needs less than the former
    l.receives->begin({2, l.landings});
    l.run();
    noting w;
    REQUIRE(first.begin(w));
    first.finish();
    CHECK(std::memcmp(result.data(), small.data(), small.size()) == 0);
    CHECK(l.heard->error() == nullptr);
  }
}

TEST_CASE("a task that has no part in a plan can't say anything of its steps") {
  liar l(task_c);
  end_of first(*l.receives, 0, false, kinds[0]);
  l.begin(1);
  noting w;
  REQUIRE(first.begin(w));
  CHECK_THROWS_AS(first.finish(), peer_error);  // nobody has met the one who sends
  l.say(value, 1, 1, 1, 0, 16);
  CHECK(l.heard->error() != nullptr);
}

TEST_CASE("failures cross with their words, and terminals are not obeyed") {
  liar l;
  end_of first(*l.receives, 0, false, kinds[0]);
  std::uint64_t step = 0;
  const auto text_of_failure = [&](std::uint32_t code, const std::string& words) {
    l.begin(++step);
    noting w;
    CHECK(!first.begin(w));
    frame_head h;
    h.kind = static_cast<std::uint8_t>(failed);
    h.session = 1, h.step = step, h.turn = code;
    std::vector<std::byte> body(words.size());
    std::copy_n(reinterpret_cast<const std::byte*>(words.data()), words.size(), body.data());
    l.says->send(h, give(body));
    l.run();
    REQUIRE(w.woken() == 1);
    std::string text;
    try {
      first.finish();
    } catch (const cancelled_error& e) {
      text = std::string("cancelled: ") + e.what();
    } catch (const deadline_error& e) {
      text = std::string("deadline: ") + e.what();
    } catch (const peer_error& e) {
      text = std::string("peer: ") + e.what();
    } catch (const error& e) {
      text = e.what();
    }
    l.receives->end(), l.sends->end();
    return text;
  };
  CHECK(text_of_failure(code_of(problem::not_finite), "dense (matmul)") == "/job:a/task:0: dense (matmul)");
  CHECK(text_of_failure(code_of(problem::cancelled), "x") == "cancelled: /job:a/task:0: x");
  CHECK(text_of_failure(code_of(problem::deadline_passed), "x") == "deadline: /job:a/task:0: x");
  CHECK(text_of_failure(code_of(problem::peer_silent), "/job:c/task:0 is gone")
            .starts_with("peer: /job:a/task:0: /job:c/task:0 is gone"));
  CHECK(text_of_failure(12345, "a version to come") == "/job:a/task:0: a version to come");
  CHECK(text_of_failure(0, "\x1b[31mred") == "/job:a/task:0: ?[31mred");
  CHECK(text_of_failure(0, "") == "/job:a/task:0: ");
}

TEST_CASE("each problem has a code of its own") {
  const problem all[] = {
#define FLOWGRAPH_PROBLEM(name, sentence) problem::name,
      FLOWGRAPH_PROBLEMS(FLOWGRAPH_PROBLEM)
#undef FLOWGRAPH_PROBLEM
  };
  for (const problem p : all) CHECK(problem_of(code_of(p)) == p);
}
