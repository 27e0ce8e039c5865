// A task's part of a plan. That parts of random graphs run together give the whole plan's values is in
// random_graphs.cpp.
#include <doctest/doctest.h>

#include <string>

#include <flowgraph/define.hpp>
#include <flowgraph/language/between_tasks.hpp>
#include <flowgraph/language/static_plan.hpp>
#include <flowgraph/plan/print.hpp>
#include <flowgraph/plan/verify.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

// Weights on a server, the rest where the step runs; the server counts the steps.
constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 8>("x");
  auto [w, steps] = [&] {
    auto server = g.device("/job:ps");
    return std::pair(g.variable<float, 8, 4>("w"), g.variable<std::int64_t>("steps"));
  }();
  auto y = g.name("y", matmul(x, w));
  auto loss = g.name("loss", reduce_mean(square(y)));
  g.name("train", fg::gradient_descent(0.1).minimize(loss));
  g.name("count", assign_add(steps, g.constant<std::int64_t>(1)));
});
constexpr const auto& spread = fg::on_devices<model, "/job:worker/task:self/cpu:0", "/job:ps/task:1/cpu:0">;
constexpr const auto& whole = fg::plan_of<spread, fg::fetch<"loss", "w", "train", "count">, fg::fetch<"x">>;

// What is asked of a part, so that it can be asked at compile time.
struct counts {
  int instructions = 0, slots = 0, variables = 0, feeds = 0, fetches = 0, sends = 0, receives = 0, both = 0;
  bool sound = false;
  constexpr bool operator==(const counts&) const = default;
};
constexpr counts part_of(const fg::plan_view& p, int task) {
  const fg::passes::task_plan part = fg::passes::task_part(p, task);
  const fg::plan_view v = part.plan.view();
  counts c{v.instructions.count, v.slots.count, v.variables.count, v.feeds.count, v.fetches.count};
  for (const fg::channel& n : v.channels) {
    c.sends += n.send >= 0;
    c.receives += n.receive >= 0;
    c.both += n.send >= 0 && n.receive >= 0;
  }
  c.sound = v.fault.why == fg::problem::none && fg::verify(v).why == fg::problem::none;
  return c;
}

constexpr int instructions(int task) {
  int n = 0;
  for (const fg::instruction& x : whole.view().instructions) n += x.device == task;
  return n;
}

static_assert(fg::passes::tasks_of(whole.view()).size() == 2);
static_assert(fg::passes::tasks_of(whole.view()).find("worker", fg::task_self) == 0);
static_assert(fg::passes::tasks_of(whole.view()).find("ps", 1) == 1);
static_assert(fg::passes::tasks_of(whole.view()).find("ps", 0) == -1);
// The worker has the feed and the loss, and what is no value; the server the variables, and the one that is fetched.
constexpr counts worker = part_of(whole.view(), 0), server = part_of(whole.view(), 1);
static_assert(worker.sound && server.sound);
static_assert(worker.feeds == 1 && worker.variables == 0 && worker.fetches == 3);
static_assert(server.feeds == 0 && server.variables == 2 && server.fetches == 1);
static_assert(worker.instructions == instructions(0) && server.instructions == instructions(1));
static_assert(worker.sends == server.receives && worker.receives == server.sends);
static_assert(worker.both == 0 && server.both == 0 && worker.sends > 0 && worker.receives > 0);

// Two devices of one task are in one part, with both ends of what they share.
constexpr const auto& beside = fg::on_devices<model, "/job:ps/task:0/cpu:1", "/job:ps/task:0/cpu:0">;
constexpr const auto& one_task = fg::plan_of<beside, fg::fetch<"loss">, fg::fetch<"x">>;
static_assert(fg::passes::tasks_of(one_task.view()).size() == 1);
static_assert(part_of(one_task.view(), 0).sound);
static_assert(part_of(one_task.view(), 0).instructions == one_task.view().instructions.count);

// What goes over the network: weights there, their gradient back, 4 bytes for each of 8 x 4 numbers; and of the batch
// nothing.
static_assert(fg::bytes_sent<spread, fg::between<"/job:ps", "/job:worker">, "train">(batch(32)) == 4 * 8 * 4);
static_assert(fg::bytes_sent<spread, fg::between<"/job:worker", "/job:ps/task:1">, "train">(batch(32)) == 4 * 8 * 4);
static_assert(fg::bytes_sent<spread, fg::between<"/job:ps", "/job:worker">, "count">() == 0);
static_assert(fg::bytes_sent<beside, fg::between<"/job:ps", "/job:ps">, "train">(batch(32)) == 0);

// The same for the same plan, and another one for another graph, signature or list of devices.
constexpr std::uint64_t print_of(const fg::plan_view& p) { return fg::passes::fingerprint(p, model.fingerprint()); }
constexpr const auto& other_fetch = fg::plan_of<spread, fg::fetch<"loss", "w", "train">, fg::fetch<"x">>;
constexpr const auto& other_server = fg::on_devices<model, "/job:worker/task:self/cpu:0", "/job:ps/task:0/cpu:0">;
constexpr const auto& elsewhere = fg::plan_of<other_server, fg::fetch<"loss", "w", "train", "count">, fg::fetch<"x">>;
static_assert(print_of(whole.view()) == print_of(whole.view()));
static_assert(print_of(whole.view()) != print_of(other_fetch.view()));
static_assert(print_of(whole.view()) != print_of(elsewhere.view()));
static_assert(print_of(whole.view()) != fg::passes::fingerprint(whole.view(), model.fingerprint() + 1));

// "self" is a worker of its own kind: a constraint that says no number finds it, one that says another does not.
constexpr fg::device_name self = fg::parse_own_device("/job:worker/task:self/cpu:0");
static_assert(self.ok && self.task == fg::task_self);
static_assert(fg::parse_device("/job:worker").matches(self) && fg::parse_device("/job:worker/task:self").matches(self));
static_assert(!fg::parse_device("/job:worker/task:0").matches(self));
static_assert(!fg::parse_device("/job:worker/task:self").matches(fg::parse_own_device("/job:worker/task:0/cpu:0")));
static_assert(!fg::parse_device("/job:worker/task:elf").ok && !fg::parse_device("/task:self/cpu:self").ok);

// Whoever gets a part from elsewhere can tell that it is none.
template <class Spoil>
constexpr bool refused(const Spoil& spoil) {
  fg::passes::task_plan part = fg::passes::task_part(whole.view(), 1);
  spoil(part.plan);
  return fg::verify(part.plan.view()).why == fg::problem::invalid_plan;
}
constexpr int first_end(const fg::plan_data& p, bool sends) {
  for (int k = 0; k < p.channels.size(); ++k)
    if ((sends ? p.channels[k].send : p.channels[k].receive) >= 0) return k;
  return -1;
}
static_assert(!refused([](fg::plan_data&) {}));
static_assert(refused([](fg::plan_data& p) { p.channels[first_end(p, true)].send = -1; }));
static_assert(refused([](fg::plan_data& p) { p.channels[first_end(p, false)].receive = -1; }));
static_assert(refused([](fg::plan_data& p) { p.channels[first_end(p, false)].receive = -2; }));
static_assert(refused([](fg::plan_data& p) { p.channels[first_end(p, true)].shared = true; }));
static_assert(refused([](fg::plan_data& p) { p.channels[first_end(p, true)].slot = 0; }));
static_assert(refused([](fg::plan_data& p) {
  fg::channel& c = p.channels[first_end(p, false)];
  c.slot = c.slot == 0 ? 1 : 0;
}));
static_assert(refused([](fg::plan_data& p) { p.instructions[p.channels[first_end(p, true)].send].device = 0; }));

}  // namespace

TEST_CASE("a part of a plan can be printed") {
  const fg::passes::task_plan part = fg::passes::task_part(whole.view(), 0);
  const std::string text = fg::to_text(part.plan.view(), model.view());
  CHECK(text.find("recv") != std::string::npos);
  CHECK(text.find("channel : float[8, 4]") != std::string::npos);
}
