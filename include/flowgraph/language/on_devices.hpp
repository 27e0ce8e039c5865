// fg::on_devices<model, "/cpu:0", "/cpu:1">: a constexpr model with the devices that run it, known to the compiler when
// it plans. It takes the model's place wherever one is named: in a session, a function, a plan_of.
#pragma once
#include <cstddef>
#include <string_view>

#include <flowgraph/core/diagnostics.hpp>
#include <flowgraph/graph/device.hpp>
#include <flowgraph/graph/graph_data.hpp>

namespace flowgraph {

template <const auto& Model, fixed_string... Devices>
struct placed_model {
  static constexpr const auto& unplaced = Model;
  static constexpr bool failed = Model.failed;

  constexpr graph_view view() const { return Model.view(); }
  // The first one takes what has no constraint. None: a mistake was reported.
  constexpr detail::slice<std::string_view> devices() const { return {names_, sizeof...(Devices)}; }

 private:
  static constexpr std::string_view names_[] = {Devices.view()..., {}};
};

namespace detail {

template <const auto& Model, fixed_string... Devices>
consteval auto place_model() {
  constexpr device_list_fault wrong = check_devices(placed_model<Model, Devices...>{}.devices());
  if constexpr (wrong.why != problem::none) {
    constexpr std::string_view name = placed_model<Model, Devices...>{}.devices()[wrong.device];
    mistake<wrong.why, named<to_fixed<name.size()>(name)>>();
    return placed_model<Model>{};
  } else {
    return placed_model<Model, Devices...>{};
  }
}

// What runs a model that names no devices.
inline constexpr std::string_view local_devices[] = {"/job:local/task:0/cpu:0"};
inline constexpr slice<std::string_view> local_device_list{local_devices, 1};

template <const auto& Model>
constexpr slice<std::string_view> devices_of() {
  if constexpr (requires { Model.devices(); }) {
    if (Model.devices().count != 0) return Model.devices();
  }
  return local_device_list;
}

// After a mistake in the list of devices no constraint matters, so that one mistake is one error.
template <const auto& Model>
constexpr bool devices_are_known() {
  if constexpr (requires { Model.devices(); })
    return Model.devices().count != 0;
  else
    return true;
}

}  // namespace detail

template <const auto& Model, fixed_string First, fixed_string... Rest>
inline constexpr auto on_devices = detail::place_model<Model, First, Rest...>();

}  // namespace flowgraph
