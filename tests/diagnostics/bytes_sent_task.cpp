// expect: traffic is asked of tasks, written like .*, of devices that the model's fg::on_devices lists
// facts: "/job:wrker"
// title: Traffic of a task that the model does not run on
#include <flowgraph/define.hpp>
#include <flowgraph/language/between_tasks.hpp>
namespace fg = flowgraph;
inline constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 8>("x");
  auto server = g.device("/job:ps");
  g.name("y", x * g.variable<float, 8>("w"));
});

// begin
inline constexpr const auto& spread = fg::on_devices<model, "/job:worker/task:0/cpu:0", "/job:ps/task:0/cpu:0">;
constexpr auto sent = fg::bytes_sent<spread, fg::between<"/job:wrker", "/job:ps">, "y">();
// end
