// What a model's steps send over the network, as a constant that a program can be held to. Apart from on_devices.hpp,
// which every model reads.
#pragma once
#include <flowgraph/passes/task.hpp>
#include "on_devices.hpp"

namespace flowgraph {

// Two groups of tasks, each by any part of its name.
template <fixed_string From, fixed_string To>
struct between {
  static constexpr fixed_string from = From, to = To;
};

namespace detail {

template <const auto& Model, fixed_string Task>
constexpr device_name task_named() {
  constexpr bool known = [] {
    const device_name wanted = parse_device(Task.view());
    if (!wanted.ok || !wanted.kind.empty()) return false;
    for (const std::string_view d : devices_of<Model>())
      if (wanted.matches(parse_own_device(d))) return true;
    return false;
  }();
  if constexpr (!known) mistake<problem::not_its_task, named<Task>>();
  return parse_device(Task.view());
}

}  // namespace detail

// Bytes that a step with these fetches sends from one group of tasks to the other. What is sent in a loop or a branch
// counts once; messages that carry no tensor count nothing.
//   static_assert(fg::bytes_sent<model, fg::between<"/job:worker", "/job:ps">, "train">(batch(32)) == 4 * 1000);
template <const auto& Model, class Between, fixed_string... Fetches, std::same_as<binding>... B>
constexpr std::int64_t bytes_sent(B... bindings) {
  const binding bound[] = {bindings..., {}};
  return detail::answer_or_throw(passes::bytes_sent(detail::placed_plan<Model, Fetches...>().view(),
                                                    detail::task_named<Model, Between::from>(),
                                                    detail::task_named<Model, Between::to>(), {bound, sizeof...(B)}));
}

}  // namespace flowgraph
