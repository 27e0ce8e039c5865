// The plan of one step of a constexpr model, made by the compiler in four constant evaluations, or seven where it
// is large, each within the allowance that compilers give by default: what is computed, where, in which order, with
// which memory.
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
  constexpr bool at_once = Model.view().nodes.count <= passes::most_optimised_at_once;
  const passes::draft d =
      passes::optimise(Model.view(), {{fetches, sizeof...(Fetch)}, {feeds, sizeof...(Fed)}}, {.sweep = at_once});
  return passes::freeze<Room>(d.view(), d.fault);
}
template <const auto& Model, class Fetches, class Feeds, passes::draft_counts Room>
struct optimised_step {
  static constexpr passes::frozen_draft<Room> value = optimise_step<Model, Room>(Fetches{}, Feeds{});
};

// A stage that the compiler could not evaluate, as it has said; what comes after such a stage is not tried.
struct not_evaluated {};
template <class Stage>
concept evaluated = requires { typename constant_bool<Stage::value.complete>; };

// A stage with the room that nearly always suffices, or with exactly what it then turned out to need.
template <template <auto> class Stage, auto Room, class... Before>
constexpr auto fit() {
  if constexpr (!(evaluated<Before> && ...))
    return not_evaluated{};
  else if constexpr (!evaluated<Stage<Room>>)
    return not_evaluated{};
  else if constexpr (Stage<Room>::value.complete)
    return Stage<Room>{};
  else
    return Stage<Stage<Room>::value.counts>{};
}
template <template <auto> class Stage, auto Room, class... Before>
using fitted = decltype(fit<Stage, Room, Before...>());

template <class Optimised, passes::draft_counts Room>
struct swept_step {
  static constexpr passes::frozen_draft<Room> value =
      passes::freeze<Room>(passes::prune(Optimised::value.view()).view(), plan_fault{});
};
// The draft without what the passes left behind in it.
template <const auto& Model, class Optimised>
constexpr auto sweep() {
  if constexpr (!evaluated<Optimised>) {
    return not_evaluated{};
  } else if constexpr (Model.view().nodes.count <= passes::most_optimised_at_once ||
                       Optimised::value.fault.why != problem::none) {
    return Optimised{};
  } else {
    using swept = swept_step<Optimised, Optimised::value.counts>;
    return std::conditional_t<evaluated<swept>, swept, not_evaluated>{};
  }
}

template <const auto& Model, class Draft>
constexpr passes::distribution distribute() {
  return passes::distribute(Draft::value.view(), Model.view(), devices_of<Model>(), how_to_place<Model>());
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
    constexpr passes::assignment on(slice<std::string_view> names) const { return {{device, counts.nodes}, {}, names}; }
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
  return freeze_roomy<Room>(
      passes::assemble(on.view(), on.on(devices_of<Model>()), a.together(), {a.sequence, a.n_sequence}));
}
template <const auto& Model, class Distributed, class Arranged, plan_counts Room>
struct assembled_step {
  static constexpr roomy_plan<Room> value = assemble_step<Room, Model, Distributed, Arranged>();
};

// The same in several evaluations, for large plans.
template <plan_counts Room, const auto& Model, class Distributed, class Arranged>
constexpr passes::frozen_lowered<Room> lower_step() {
  const auto& on = Distributed::value;
  const auto& a = Arranged::value;
  return passes::freeze<Room>(
      passes::instruct(on.view(), on.on(devices_of<Model>()), a.together(), {a.sequence, a.n_sequence}));
}
template <const auto& Model, class Distributed, class Arranged, plan_counts Room>
struct lowered_step {
  static constexpr passes::frozen_lowered<Room> value = lower_step<Room, Model, Distributed, Arranged>();
};

template <plan_counts Room, class Distributed, class Lowered>
constexpr passes::frozen_tight<Room> give_tight_memory(bool wide) {
  plan_data p = thaw(Lowered::value.view());
  const passes::tight_memory tight = passes::give_tight_memory(p, Distributed::value.counts.nodes, wide);
  return passes::freeze<Room>(p, tight);
}
template <class Distributed, class Lowered, bool Wide, plan_counts Room>
struct tight_step {
  static constexpr passes::frozen_tight<Room> value = give_tight_memory<Room, Distributed, Lowered>(Wide);
};
template <plan_counts Room, class Distributed, class Lowered, class Tight>
constexpr passes::frozen_wide<Room> give_wide_memory() {
  plan_data p = thaw(Lowered::value.view());
  const bool affordable =
      passes::give_wide_memory(p, Distributed::value.counts.nodes, {Tight::value.budgets, Tight::value.n_budgets});
  return {freeze_roomy<Room>(p), affordable};
}
template <class Distributed, class Lowered, class Tight, plan_counts Room>
struct wide_step {
  static constexpr passes::frozen_wide<Room> value = give_wide_memory<Room, Distributed, Lowered, Tight>();
};
// The plan with its memory: what passes::memory does.
template <class Distributed, class Lowered, plan_counts Room>
struct remembering_step {
 private:
  template <auto R>
  using first = tight_step<Distributed, Lowered, passes::options{}.wide, R>;
  using tight = fitted<first, Room, Lowered>;
  template <auto R>
  using second = wide_step<Distributed, Lowered, tight, R>;
  template <auto R>
  using last = tight_step<Distributed, Lowered, false, R>;

  static constexpr auto chosen() {
    if constexpr (!evaluated<tight>)
      return not_evaluated{};
    else if constexpr (!tight::value.wide)
      return tight{};
    else if constexpr (!evaluated<fitted<second, Room>>)
      return not_evaluated{};
    else if constexpr (fitted<second, Room>::value.affordable)
      return fitted<second, Room>{};
    else
      return fitted<last, Room>{};
  }

 public:
  using type = decltype(chosen());
};

template <plan_counts Room, class Lowered, class Remembering>
constexpr roomy_plan<Room> connect_step() {
  plan_data p = thaw(Remembering::value.view());
  passes::depend(p, {Lowered::value.controls, Lowered::value.counts.successors});
  return freeze_roomy<Room>(p);
}
template <class Lowered, class Remembering, plan_counts Room>
struct connected_step {
  static constexpr roomy_plan<Room> value = connect_step<Room, Lowered, Remembering>();
};

template <const auto& Model, class Distributed, class Arranged, plan_counts Room,
          bool AtOnce = (Arranged::value.n_sequence <= passes::most_assembled_at_once)>
struct whole_assembly {
  template <auto R>
  using assembled = assembled_step<Model, Distributed, Arranged, R>;
  using type = fitted<assembled, Room>;
};
template <const auto& Model, class Distributed, class Arranged, plan_counts Room>
struct whole_assembly<Model, Distributed, Arranged, Room, false> {
  template <auto R>
  using instructions = lowered_step<Model, Distributed, Arranged, R>;
  using lowered = fitted<instructions, Room>;
  using remembering = typename remembering_step<Distributed, lowered, Room>::type;
  template <auto R>
  using connections = connected_step<lowered, remembering, R>;
  using type = fitted<connections, Room, lowered, remembering>;
};

template <const auto& Model, class Fetches, class Feeds>
struct static_plan;
template <const auto& Model, int... Fetch, int... Fed>
struct static_plan<Model, node_list<Fetch...>, node_list<Fed...>> {
 private:
  template <auto Room>
  using optimised = optimised_step<Model, node_list<Fetch...>, node_list<Fed...>, Room>;
  using draft =
      decltype(sweep<Model, fitted<optimised, passes::room_for(Model.view(), static_cast<int>(sizeof...(Fetch)),
                                                               static_cast<int>(sizeof...(Fed)))>>());
  using distributed = distributed_step<Model, draft>;
  using arranged = arranged_step<distributed>;

  static constexpr auto none(const plan_fault& why) {
    frozen_plan<plan_counts{}> p;
    p.fault = why;
    return p;
  }
  static constexpr auto make() {
    if constexpr (!evaluated<draft>) {
      return none({problem::model_too_large, -1});
    } else if constexpr (draft::value.fault.why != problem::none) {
      return none(draft::value.fault);
    } else if constexpr (distributed::value.fault.why != problem::none) {
      return none(distributed::value.fault);
    } else if constexpr (!evaluated<arranged>) {
      return none({problem::model_too_large, -1});
    } else {
      constexpr plan_counts room = passes::room_for_plan(distributed::value.view(), arranged::value.n_sequence,
                                                         arranged::value.n_groups, devices_of<Model>());
      using made = typename whole_assembly<Model, distributed, arranged, room>::type;
      if constexpr (evaluated<made>)
        return freeze<made::value.counts>(made::value.view());
      else
        return none({problem::model_too_large, -1});
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
