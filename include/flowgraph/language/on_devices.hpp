// fg::on_devices<model, "/cpu:0", "/cpu:1">: a constexpr model with the devices that run it, known to the compiler when
// it plans. It takes the model's place wherever one is named: in a session, a function, a plan_of. fg::softly_on<model,
// ...> is the same for a model that names more devices than there are.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <flowgraph/core/diagnostics.hpp>
#include <flowgraph/graph/device.hpp>
#include <flowgraph/graph/graph_data.hpp>
#include "facts.hpp"

namespace flowgraph {

namespace detail {

// What runs a model that names no devices.
inline constexpr std::string_view local_devices[] = {"/job:local/task:0/cpu:0"};
inline constexpr slice<std::string_view> local_device_list{local_devices, 1};

}  // namespace detail

template <const auto& Model, bool Softly, fixed_string... Devices>
struct placed_model {
  static constexpr const auto& unplaced = Model;
  static constexpr bool failed = Model.failed;
  static constexpr passes::options placing{.soft_placement = Softly};

  constexpr graph_view view() const { return Model.view(); }
  // None: a mistake was reported.
  constexpr detail::slice<std::string_view> devices() const { return {names_, sizeof...(Devices)}; }

  // The model's facts, as fg::define says them.
  constexpr int nodes() const { return Model.nodes(); }
  constexpr std::int64_t parameters() const { return Model.parameters(); }
  constexpr std::int64_t state_bytes() const { return Model.state_bytes(); }
  constexpr std::uint64_t fingerprint() const { return Model.fingerprint(); }
  template <fixed_string... Fetches, std::same_as<binding>... B>
  constexpr std::int64_t flops(B... bindings) const {
    return Model.template flops<Fetches...>(bindings...);
  }
  // On all devices together; fg::peak_bytes<on_devices<...>, "/cpu:1"> tells it of one.
  template <fixed_string... Fetches, std::same_as<binding>... B>
  constexpr std::int64_t peak_bytes(B... bindings) const {
    const binding bound[] = {bindings..., {}};
    const std::string_view names[] = {Fetches.view()..., {}};
    const plan_data p = detail::plan_or_throw(view(), {names, sizeof...(Fetches)}, devices(), placing);
    return detail::answer_or_throw(flowgraph::peak_bytes(p.view(), {bound, sizeof...(B)}));
  }

 private:
  static constexpr std::string_view names_[] = {Devices.view()..., {}};
};

namespace detail {

template <const auto& Model, bool Softly, fixed_string... Devices>
consteval auto place_model() {
  constexpr device_list_fault wrong = check_devices(placed_model<Model, Softly, Devices...>{}.devices());
  if constexpr (wrong.why != problem::none) {
    constexpr std::string_view name = placed_model<Model, Softly, Devices...>{}.devices()[wrong.device];
    mistake<wrong.why, named<to_fixed<name.size()>(name)>>();
    return placed_model<Model, Softly>{};
  } else {
    return placed_model<Model, Softly, Devices...>{};
  }
}

template <const auto& Model>
constexpr slice<std::string_view> devices_of() {
  if constexpr (requires { Model.devices(); }) {
    if (Model.devices().count != 0) return Model.devices();
  }
  return local_device_list;
}

// After a mistake in the list of devices no constraint matters, so that one mistake is one error.
template <const auto& Model>
constexpr passes::options how_to_place() {
  if constexpr (requires { Model.placing; }) {
    passes::options how = Model.placing;
    how.one_device = Model.devices().count == 0;
    return how;
  } else {
    return {};
  }
}

template <const auto& Model, fixed_string... Fetches>
constexpr plan_data placed_plan() {
  const std::string_view names[] = {Fetches.view()..., {}};
  return plan_or_throw(Model.view(), {names, sizeof...(Fetches)}, devices_of<Model>(), how_to_place<Model>());
}

// A device of the model's list, by any part of its name that tells it apart from those before it; -1: a mistake.
template <const auto& Model, fixed_string Device>
constexpr int index_of_device() {
  constexpr int found = [] {
    const device_name wanted = parse_device(Device.view());
    const slice<std::string_view> all = devices_of<Model>();
    for (int k = 0; k < all.count; ++k)
      if (wanted.ok && wanted.matches(parse_own_device(all[k]))) return k;
    return -1;
  }();
  if constexpr (found < 0) mistake<problem::not_its_device, named<Device>>();
  return found;
}

}  // namespace detail

template <const auto& Model, fixed_string First, fixed_string... Rest>
inline constexpr auto on_devices = detail::place_model<Model, false, First, Rest...>();

// What names a device that is not listed goes where it would if it named none. Without a list: one CPU of this process.
template <const auto& Model, fixed_string... Devices>
inline constexpr auto softly_on = detail::place_model<Model, true, Devices...>();
template <const auto& Model>
inline constexpr auto softly_on<Model> = detail::place_model<Model, true, "/cpu:0">();

// Bytes that one device needs in a step with these fetches beside its variables and feeds:
//   static_assert(fg::peak_bytes<fg::on_devices<model, "/cpu:0", "/cpu:1">, "/cpu:1", "loss", "train">(batch(128)) < 1
//   << 20);
template <const auto& Model, fixed_string Device, fixed_string... Fetches, std::same_as<binding>... B>
constexpr std::int64_t peak_bytes(B... bindings) {
  constexpr int device = detail::index_of_device<Model, Device>();
  if constexpr (device < 0) return 0;
  const binding bound[] = {bindings..., {}};
  return detail::answer_or_throw(
      peak_bytes(detail::placed_plan<Model, Fetches...>().view(), {bound, sizeof...(B)}, device));
}

// Bytes that a step with these fetches sends from one device to another. What is sent in a loop or a branch counts
// once. Channel by channel: bytes_sent(plan, channel, bindings), of plan_of's channels.
template <const auto& Model, fixed_string... Fetches, std::same_as<binding>... B>
constexpr std::int64_t bytes_sent(B... bindings) {
  const binding bound[] = {bindings..., {}};
  return detail::answer_or_throw(bytes_sent(detail::placed_plan<Model, Fetches...>().view(), {bound, sizeof...(B)}));
}

}  // namespace flowgraph
