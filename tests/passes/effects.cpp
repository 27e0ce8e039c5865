// In which order effects come: a chain for each resource, one for what is seen from outside; and what a plan of many
// branches takes.
#include <string_view>

#include <sys/resource.h>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/passes/pipeline.hpp>

namespace fg = flowgraph;

namespace {

constexpr std::string_view devices[] = {"/cpu:0", "/cpu:1"};

void show(fg::array_ref<const float>) {}

// A plan of these, in which instructions are found by the op's name and which of them it is.
class effects {
 public:
  effects(fg::graph& g, fg::detail::slice<int> fetches, int n_devices = 1)
      : plan_(fg::passes::plan(g.data().view(), {fetches, {}}, {devices, n_devices},
                               {.verify = true, .allow_unfed = true})) {}

  bool made() const { return plan_.fault.why == fg::problem::none; }
  int find(std::string_view op, int which = 0) const {
    for (int i = 0; i < plan_.instructions.size(); ++i)
      if (plan_.instructions[i].op->name.starts_with(op) && which-- == 0) return i;
    return -1;
  }
  // Whether b is not begun before a is done.
  bool in_order(int a, int b) const {
    REQUIRE(a >= 0);
    REQUIRE(b >= 0);
    fg::detail::vec<bool> behind(plan_.instructions.size());
    behind[a] = true;
    for (int i = a; i < b; ++i)
      for (const int next : plan_.view().next(plan_.instructions[i])) behind[next] = behind[next] || behind[i];
    return behind[b];
  }
  bool independent(int a, int b) const { return !in_order(a, b) && !in_order(b, a); }

 private:
  fg::plan_data plan_;
};

}  // namespace

TEST_CASE("effects on one resource come in their order, those on others at any time") {
  fg::graph g;
  auto x = g.placeholder<float>("x");
  auto first = fg::fifo_queue<fg::tensor<float>>(g, "first", 4),
       second = fg::fifo_queue<fg::tensor<float>>(g, "second", 4);
  auto m = fg::mutex(g, "m");
  auto b = fg::barrier(g, "b", 2);
  auto one = first.dequeue(), other = second.dequeue(), again = first.dequeue();
  auto put = second.enqueue(x);
  auto held = m.acquire();
  auto free = m.release();
  auto met = b.arrive();
  auto seen = print(x, "x: ");
  auto called = fg::host_call<"show", &show>(x);
  const int all[] = {one.id, other.id, again.id, put.id, held.id, free.id, met.id, seen.id, called.id};
  const effects e(g, {all, 9});
  REQUIRE(e.made());
  CHECK(e.independent(e.find("dequeue", 0), e.find("dequeue", 1)));
  CHECK(e.in_order(e.find("dequeue", 0), e.find("dequeue", 2)));
  CHECK(e.in_order(e.find("dequeue", 1), e.find("enqueue")));
  CHECK(e.independent(e.find("dequeue", 2), e.find("enqueue")));
  CHECK(e.in_order(e.find("mutex_acquire"), e.find("mutex_release")));
  CHECK(e.in_order(e.find("print"), e.find("host_call")));
  const int alone[] = {e.find("mutex_acquire"), e.find("barrier_arrive"), e.find("print"), e.find("dequeue", 1)};
  for (const int i : alone)
    for (const int k : alone) CHECK((i == k || e.independent(i, k)));
}

TEST_CASE("effects within branches and loops are the owner's") {
  fg::graph g;
  auto c = g.placeholder<bool>("c");
  auto x = g.placeholder<float>("x");
  auto first = fg::fifo_queue<fg::tensor<float>>(g, "first", 4),
       second = fg::fifo_queue<fg::tensor<float>>(g, "second", 4);
  auto before = first.dequeue();
  auto y = cond(
      c, [&] { return first.dequeue(); }, [&] { return x; });
  auto z = cond(
      c, [&] { return second.dequeue(); }, [&] { return x; });
  auto behind = first.dequeue();
  const int all[] = {before.id, y.id, z.id, behind.id};
  const effects e(g, {all, 4});
  REQUIRE(e.made());
  const int one = e.find("dequeue", 0), last = e.find("dequeue", 3);
  CHECK(e.in_order(one, e.find("merge", 2)));  // the owner behind the branches' own
  CHECK(e.in_order(e.find("merge", 2), last));
  CHECK(e.independent(one, e.find("merge", 5)));
  CHECK(e.independent(e.find("merge", 2), e.find("merge", 5)));
}

TEST_CASE("a plan of many branches takes memory for each of them once") {
  fg::graph g;
  auto c = g.placeholder<bool>("c");
  fg::tensor<float> y = g.placeholder<float>("x");
  for (int i = 0; i < 2'000; ++i)
    y = cond(
        c, [&] { return y * 2.0f; }, [&] { return y + static_cast<float>(i); });
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const int fetch = y.id;
  CHECK(effects(g, {&fetch, 1}).made());
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 300'000);  // KB; it was 2,300,000
}
