// Steps of two tasks on a clock and a network that a seed has made up: late, cut at any byte, silent, failed or given
// up at any moment. Whatever happens, nobody waits for ever, who ends early is told why, and no memory is touched
// afterwards.
#include <flowgraph/net/link_rendezvous.hpp>

#include <doctest/doctest.h>

#include <flowgraph/net/endpoint.hpp>
#include <flowgraph/net/memory_carrier.hpp>
#include <flowgraph/net/virtual_loop.hpp>

#include "rough_carrier.hpp"
#include "support.hpp"
#include "support/rendezvous_conformance.hpp"

namespace {

using namespace net_test;
using namespace std::chrono_literals;
using rendezvous_conformance::kind;

const task_name task_a{"a", 0}, task_b{"b", 0};
constexpr int turns = 6;
constexpr float poison = -12345;

const std::vector<kind> kinds{{4, false},      {4, true}, {30'000, false}, {20'000, true},
                              {4, true, true}, {0, true}, {1, true}};

// One instruction of a step: an end of a channel that goes through its turns.
class actor final : public waiter {
 public:
  actor(virtual_loop& loop, std::mt19937_64& random, rendezvous& r, int channel, bool sends)
      : loop_(loop),
        random_(random),
        kind_(kinds[static_cast<std::size_t>(channel)]),
        what_(sends ? r.sender(channel) : r.receiver(channel)),
        sends_(sends),
        channel_(channel),
        value_(static_cast<std::size_t>(kind_.news ? 0 : kind_.elements), poison),
        view_{value_.data(), &kind_.elements, 1, dtype::float32} {
    args_.in = args_.out = &view_;
    args_.n_in = sends && !kind_.news;
    args_.n_out = !sends && !kind_.news;
  }

  void start(std::function<void(std::exception_ptr)> done) {
    done_ = std::move(done);
    turn_ = 0;
    is_over_ = false;
    later();
  }
  void wake() noexcept override {
    CHECK(waits_);
    waits_ = false;
    loop_.post([this] { finish(); });
  }
  // As an engine does where a step has failed.
  void give_up() {
    stops_ = true;
    if (waits_ && what_->cancel()) waits_ = false, over(nullptr);
  }
  bool is_over() const { return is_over_; }
  void spoil() {
    std::fill(value_.begin(), value_.end(), poison);
    stops_ = false;
  }
  bool is_spoilt() const {
    return std::all_of(value_.begin(), value_.end(), [](float x) { return x == poison; });
  }
  int wrong = 0;

 private:
  float wanted() const { return static_cast<float>(100 * channel_ + turn_); }
  void later() {
    loop_.at(loop_.now() + std::chrono::microseconds(random_() % 300), [this] { begin(); });
  }
  void begin() {
    if (stops_) return over(nullptr);
    if (sends_) std::fill(value_.begin(), value_.end(), wanted());
    waits_ = true;  // it may be woken before begin returns
    if (!what_->begin(args_, *this)) return;
    waits_ = false;
    finish();
  }
  void finish() {
    if (stops_) return over(nullptr);
    try {
      what_->finish(args_);
    } catch (...) {
      return over(std::current_exception());
    }
    if (sends_)
      std::fill(value_.begin(), value_.end(), poison);  // what has been sent may change
    else
      for (const float x : value_) wrong += x != wanted();
    if (++turn_ == (kind_.in_turns ? turns : 1)) return over(nullptr);
    later();
  }
  void over(std::exception_ptr why) {
    is_over_ = true;
    done_(std::move(why));
  }

  virtual_loop& loop_;
  std::mt19937_64& random_;
  kind kind_;
  std::unique_ptr<attempt> what_;
  bool sends_;
  int channel_;
  std::vector<float> value_;
  array_view view_;
  kernel_args args_;
  std::function<void(std::exception_ptr)> done_;
  int turn_ = 0;
  bool waits_ = false, stops_ = false, is_over_ = true;
};

// A task's part of a step, run as engines do: the first failure is told, the rest given up, and then it ends.
class part_of_step {
 public:
  part_of_step(virtual_loop& loop, std::mt19937_64& random, link_source& source, const plan_view& sends,
               const plan_view& receives) {
    for (const plan_view* p : {&sends, &receives}) {
      meets_.push_back(source.make(*p));
      for (int k = 0; k < static_cast<int>(kinds.size()); ++k)
        actors_.push_back(std::make_unique<actor>(loop, random, *meets_.back(), k, p == &sends));
    }
    for (const kind& k : kinds) {
      memory_.emplace_back(static_cast<std::size_t>(k.news ? 0 : 2 * (k.elements + 16)));
      landings_.push_back(k.news ? array_view() : array_view{memory_.back().data(), &k.elements, 1, dtype::float32});
    }
  }
  void begin(std::uint64_t step) {
    began_ = true;
    none_.assign(landings_.size(), {});
    meets_[0]->begin({step, none_});
    meets_[1]->begin({step, landings_});
    left_ = actors_.size();
    failure_ = nullptr;
    for (const auto& a : actors_) a->start([this](std::exception_ptr why) { done(std::move(why)); });
  }
  // Something else of it has failed.
  void fail() {
    if (left_ > 0) failed(std::make_exception_ptr(execution_error(problem::kernel_failed, "a kernel has failed")));
  }
  bool is_over() const { return left_ == 0; }
  bool has_begun() const { return began_; }
  std::exception_ptr failure() const { return failure_; }
  int wrong() const {
    int n = 0;
    for (const auto& a : actors_) n += a->wrong;
    return n;
  }
  // Nothing has been written since the step was over.
  bool is_untouched() const {
    return std::all_of(actors_.begin(), actors_.end(), [](const auto& a) { return a->is_spoilt(); }) &&
           std::all_of(memory_.begin(), memory_.end(), [](const auto& m) {
             return std::all_of(m.begin(), m.end(), [](float x) { return x == poison; });
           });
  }

 private:
  void failed(std::exception_ptr why) {
    if (failure_) return;
    failure_ = why;
    try {
      std::rethrow_exception(why);
    } catch (const error& e) {
      for (const auto& m : meets_) m->abort(e.why(), e.what());
    }
    for (const auto& a : actors_)
      if (!a->is_over()) a->give_up();
  }
  void done(std::exception_ptr why) {
    --left_;
    if (why) failed(std::move(why));
    if (left_ > 0) return;
    for (const auto& m : meets_) m->end();
    for (const auto& a : actors_) a->spoil();
    for (auto& m : memory_) std::fill(m.begin(), m.end(), poison);
  }

  std::vector<std::unique_ptr<rendezvous>> meets_;
  std::vector<std::unique_ptr<actor>> actors_;
  std::vector<std::vector<float>> memory_;
  std::vector<array_view> landings_, none_;
  std::size_t left_ = 0;
  bool began_ = false;
  std::exception_ptr failure_;
};

enum class trouble { none, cut, silence, failure, given_up, count };

struct two_parts {
  virtual_loop loop;
  std::mt19937_64 random;
  std::shared_ptr<weather> outside = std::make_shared<weather>();
  std::shared_ptr<memory_network> network = std::make_shared<memory_network>();
  rendezvous_conformance::plans there{kinds}, back{kinds};
  link_source a, b;
  endpoint at_a{loop, options_of(task_a)}, at_b{loop, options_of(task_b)};

  explicit two_parts(std::uint64_t seed) : random(seed) {
    for (plan_data* p : {&back.sends, &back.receives}) std::swap(p->devices[0], p->devices[1]);
    a.add(1, there.sends.view()), a.add(2, back.receives.view());
    b.add(1, there.receives.view()), b.add(2, back.sends.view());
    outside->random.seed(seed + 1);
    at_a.add(std::make_unique<rough_carrier>(std::make_unique<memory_carrier>(loop, network), loop, outside));
    at_b.add(std::make_unique<rough_carrier>(std::make_unique<memory_carrier>(loop, network), loop, outside));
    at_b.listen("process:b", [this](const peer_info& p, const std::shared_ptr<peer_link>& l, std::string&) {
      auto r = b.meet(p.name);
      r->goes_over(l);
      return r;
    });
    connect();
  }
  void connect() {
    auto r = a.meet(task_b);
    r->goes_over(at_a.connect(task_b, "process:b", r, loop.now() + 20s));
  }
  part_of_step part_of_a() { return {loop, random, a, there.sends.view(), back.receives.view()}; }
  part_of_step part_of_b() { return {loop, random, b, back.sends.view(), there.receives.view()}; }
};

// What it failed with: nothing; about that peer; the planned failure; something else.
std::string outcome_of(const std::exception_ptr& why, const task_name& peer) {
  if (!why) return "";
  try {
    std::rethrow_exception(why);
  } catch (const peer_error& e) {
    return e.peer() == peer ? "peer" : std::string("another peer: ") + e.what();
  } catch (const error& e) {
    const std::string text = e.what();
    if (text == "a kernel has failed") return "here";
    if (text == peer.text() + ": a kernel has failed") return "there";
    return text;
  }
}

}  // namespace

TEST_CASE("whatever happens on the way, both parts of a step end") {
  int met[static_cast<int>(trouble::count)] = {}, lost = 0, through = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const auto what = static_cast<trouble>(seed % static_cast<std::uint64_t>(trouble::count));
    ++met[static_cast<int>(what)];
    two_parts t(seed);
    t.outside->most = std::chrono::microseconds(t.random() % 4 == 0 ? 0 : t.random() % 2000);
    t.loop.run_until(t.loop.now() + 100ms);
    if (what == trouble::cut || what == trouble::silence) {
      t.outside->bytes_left = static_cast<std::int64_t>(t.random() % (t.random() % 2 == 0 ? 2'000 : 2'000'000));
      t.outside->silent = what == trouble::silence;
    }
    part_of_step in_a = t.part_of_a(), in_b = t.part_of_b();
    for (std::uint64_t step = 1; step <= 3; ++step) {
      CAPTURE(step);
      const auto soon = [&] { return t.loop.now() + std::chrono::microseconds(t.random() % 5000); };
      const bool b_comes = what != trouble::given_up || step != 2;
      t.loop.at(soon(), [&] { in_a.begin(step); });
      if (b_comes)
        t.loop.at(soon(), [&] { in_b.begin(step); });
      else
        t.loop.at(soon(), [&] {
          t.b.give_up(1, step, problem::kernel_failed, "a kernel has failed");
          t.b.give_up(2, step, problem::kernel_failed, "a kernel has failed");
        });
      if (what == trouble::failure && step == 2) t.loop.at(soon(), [&] { (seed % 2 == 0 ? in_a : in_b).fail(); });
      t.loop.run_until(t.loop.now() + 20s);
      REQUIRE(in_a.is_over());
      REQUIRE(in_b.is_over());
      CHECK(in_a.is_untouched());
      if (step > 1 || b_comes) CHECK(in_b.is_untouched());
      CHECK(in_a.wrong() == 0);
      CHECK(in_b.wrong() == 0);
      const std::string end_a = outcome_of(in_a.failure(), task_b),
                        end_b = b_comes ? outcome_of(in_b.failure(), task_a) : "";
      CAPTURE(end_a);
      CAPTURE(end_b);
      switch (what) {
        case trouble::none:
          CHECK(end_a + end_b == "");
          break;
        case trouble::cut:
        case trouble::silence:
          CHECK((end_a == "" || end_a == "peer"));
          CHECK((end_b == "" || end_b == "peer"));
          break;
        case trouble::failure:
          // The moment may come before the part has begun, or after it is over.
          CHECK((step == 2 || end_a + end_b == ""));
          CHECK((end_a == "" || end_a == (seed % 2 == 0 ? "here" : "there")));
          CHECK((end_b == "" || end_b == (seed % 2 == 0 ? "there" : "here")));
          // Who had all it needs by then is through.
          CHECK((seed % 2 == 0 ? end_b == "" || end_a == "here" : end_a == "" || end_b == "here"));
          break;
        default:
          CHECK(end_a == (b_comes ? "" : "there"));
          CHECK(end_b == "");
      }
      lost += (end_a == "peer") + (end_b == "peer");
      through += end_a.empty() && end_b.empty();
    }
    if (what == trouble::cut || what == trouble::silence) {  // and they meet again
      t.outside->bytes_left = -1;
      t.connect();
      t.loop.run_until(t.loop.now() + 1s);
      in_a.begin(9), in_b.begin(9);
      t.loop.run_until(t.loop.now() + 1s);
      REQUIRE(in_a.is_over());
      REQUIRE(in_b.is_over());
      CHECK(outcome_of(in_a.failure(), task_b) == "");
      CHECK(outcome_of(in_b.failure(), task_a) == "");
      CHECK(in_a.wrong() + in_b.wrong() == 0);
    }
  }
  CHECK(lost > 100);
  CHECK(through > 300);
}
