// The plan of one step of a constexpr model, made by the compiler in three constant evaluations, each within the
// allowance that compilers give by default: what is computed, in which order, with which memory.
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <flowgraph/passes/frozen_draft.hpp>

namespace flowgraph {

namespace detail {

// What a session on one machine has.
inline constexpr std::string_view local_devices[] = {"/job:local/task:0/cpu:0"};
inline constexpr slice<std::string_view> local_device_list{local_devices, 1};

template <int... Node>
struct node_list {};

// Each stage is a call of a function, because g++ evaluates a lambda that stands in a member's initializer twice.
template <const auto& Model, passes::draft_counts Room, int... Fetch, int... Fed>
constexpr passes::frozen_draft<Room> optimise_step(node_list<Fetch...>, node_list<Fed...>) {
  constexpr int fetches[] = {Fetch..., 0}, feeds[] = {Fed..., 0};
  const passes::draft d = passes::optimise(Model.view(), {{fetches, sizeof...(Fetch)}, {feeds, sizeof...(Fed)}});
  return passes::freeze<Room>(d.view(), d.fault);
}
template <const auto& Model, class Fetches, class Feeds, passes::draft_counts Room>
struct optimised_step {
  static constexpr passes::frozen_draft<Room> value = optimise_step<Model, Room>(Fetches{}, Feeds{});
};

template <const auto& Model, class Draft>
struct arranged_step {
  static constexpr auto value = passes::freeze<Draft::value.counts.nodes, Draft::value.counts.regions>(
      passes::arrange(Draft::value.view(), Model.view(), local_device_list));
};

template <plan_counts Room, class Draft, class Arranged>
constexpr roomy_plan<Room> assemble_step() {
  const auto& a = Arranged::value;
  return freeze_roomy<Room>(passes::assemble(Draft::value.view(), {a.device, Draft::value.counts.nodes}, a.together(),
                                             {a.sequence, a.n_sequence}, local_device_list));
}
template <class Draft, class Arranged, plan_counts Room>
struct assembled_step {
  static constexpr roomy_plan<Room> value = assemble_step<Room, Draft, Arranged>();
};

// A stage with the room that nearly always suffices, or with exactly what it then turned out to need.
template <template <auto> class Stage, auto Room>
using fitted = std::conditional_t<Stage<Room>::value.complete, Stage<Room>, Stage<Stage<Room>::value.counts>>;

template <const auto& Model, class Fetches, class Feeds>
struct static_plan;
template <const auto& Model, int... Fetch, int... Fed>
struct static_plan<Model, node_list<Fetch...>, node_list<Fed...>> {
 private:
  template <auto Room>
  using optimised = optimised_step<Model, node_list<Fetch...>, node_list<Fed...>, Room>;
  using draft = fitted<optimised, passes::room_for(Model.view(), static_cast<int>(sizeof...(Fetch)),
                                                   static_cast<int>(sizeof...(Fed)))>;
  using arranged = arranged_step<Model, draft>;
  template <auto Room>
  using assembled = assembled_step<draft, arranged, Room>;

  static constexpr auto make() {
    if constexpr (draft::value.fault.why != problem::none) {
      frozen_plan<plan_counts{}> none;
      none.fault = draft::value.fault;
      return none;
    } else if constexpr (arranged::value.fault.why != problem::none) {
      frozen_plan<plan_counts{}> none;
      none.fault = arranged::value.fault;
      return none;
    } else {
      constexpr plan_counts room = passes::room_for_plan(draft::value.view(), arranged::value.n_sequence,
                                                         arranged::value.n_groups, local_devices[0].size());
      using made = fitted<assembled, room>;
      return freeze<made::value.counts>(made::value.view());
    }
  }

 public:
  static constexpr auto plan = make();
};

}  // namespace detail

// The plan of run<Fetches...> with these feeds, as a constexpr value: to look at, or to hold to a bound.
//   constexpr auto& p = fg::plan_of<digits, fg::fetch<"loss", "train">, fg::fetch<"x", "y">>;
template <fixed_string... Names>
struct fetch {};

namespace detail {

template <const auto& Model, class Fetches, class Feeds>
struct named_plan;
template <const auto& Model, fixed_string... Fetch, fixed_string... Fed>
struct named_plan<Model, fetch<Fetch...>, fetch<Fed...>> {
  using type =
      static_plan<Model, node_list<Model.view().find(Fetch.view())...>, node_list<Model.view().find(Fed.view())...>>;
};

}  // namespace detail

template <const auto& Model, class Fetches, class Feeds = fetch<>>
inline constexpr const auto& plan_of = detail::named_plan<Model, Fetches, Feeds>::type::plan;

}  // namespace flowgraph
