// The plan of one step of a constexpr model, made by the compiler in four constant evaluations, each within the
// allowance that compilers give by default: what is computed, where, in which order, with which memory.
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <flowgraph/passes/frozen_draft.hpp>
#include "on_devices.hpp"

namespace flowgraph {

namespace detail {

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

// A stage with the room that nearly always suffices, or with exactly what it then turned out to need.
template <template <auto> class Stage, auto Room>
using fitted = std::conditional_t<Stage<Room>::value.complete, Stage<Room>, Stage<Stage<Room>::value.counts>>;

template <const auto& Model, class Draft>
constexpr passes::distribution distribute() {
  return passes::distribute(Draft::value.view(), Model.view(), devices_of<Model>(),
                            {.one_device = !devices_are_known<Model>()});
}

template <const auto& Model, class Draft, passes::draft_counts Room>
struct cut_step {
  static constexpr passes::frozen_distribution<Room> value =
      passes::freeze<Room>(Draft::value.view(), distribute<Model, Draft>());
};

template <const auto& Model, class Draft, bool Several = (devices_of<Model>().count > 1)>
struct distributed_step {
  template <auto Room>
  using cut = cut_step<Model, Draft, Room>;
  static constexpr const auto& value = fitted<cut, passes::room_for_cut(Draft::value.counts)>::value;
};
// One device runs the draft as it is: models that name no devices don't pay for a copy.
template <const auto& Model, class Draft>
struct distributed_step<Model, Draft, false> {
  struct whole {
    passes::draft_counts counts = Draft::value.counts;
    int device[Draft::value.counts.nodes + 1]{};
    plan_fault fault;
    constexpr passes::draft_view view() const { return Draft::value.view(); }
  };
  static constexpr whole value{.fault = distribute<Model, Draft>().fault};
};

template <class Distributed>
struct arranged_step {
  static constexpr auto value = passes::freeze<Distributed::value.counts.nodes, Distributed::value.counts.regions>(
      passes::arrange(Distributed::value.view(), {Distributed::value.device, Distributed::value.counts.nodes}));
};

template <plan_counts Room, const auto& Model, class Distributed, class Arranged>
constexpr roomy_plan<Room> assemble_step() {
  const auto& on = Distributed::value;
  const auto& a = Arranged::value;
  return freeze_roomy<Room>(passes::assemble(on.view(), {on.device, on.counts.nodes}, a.together(),
                                             {a.sequence, a.n_sequence}, devices_of<Model>()));
}
template <const auto& Model, class Distributed, class Arranged, plan_counts Room>
struct assembled_step {
  static constexpr roomy_plan<Room> value = assemble_step<Room, Model, Distributed, Arranged>();
};

template <const auto& Model, class Fetches, class Feeds>
struct static_plan;
template <const auto& Model, int... Fetch, int... Fed>
struct static_plan<Model, node_list<Fetch...>, node_list<Fed...>> {
 private:
  template <auto Room>
  using optimised = optimised_step<Model, node_list<Fetch...>, node_list<Fed...>, Room>;
  using draft = fitted<optimised, passes::room_for(Model.view(), static_cast<int>(sizeof...(Fetch)),
                                                   static_cast<int>(sizeof...(Fed)))>;
  using distributed = distributed_step<Model, draft>;
  using arranged = arranged_step<distributed>;
  template <auto Room>
  using assembled = assembled_step<Model, distributed, arranged, Room>;

  static constexpr auto make() {
    if constexpr (draft::value.fault.why != problem::none) {
      frozen_plan<plan_counts{}> none;
      none.fault = draft::value.fault;
      return none;
    } else if constexpr (distributed::value.fault.why != problem::none) {
      frozen_plan<plan_counts{}> none;
      none.fault = distributed::value.fault;
      return none;
    } else {
      constexpr plan_counts room = passes::room_for_plan(distributed::value.view(), arranged::value.n_sequence,
                                                         arranged::value.n_groups, devices_of<Model>());
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
// For several devices: fg::plan_of<fg::on_devices<digits, "/cpu:0", "/cpu:1">, fg::fetch<"loss">, fg::fetch<"x", "y">>.
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
