// What options.devices may say: of a dynamic_session, which devices there are; of a session<model>, nothing else than
// its type does.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/core/error.hpp>
#include <flowgraph/core/list.hpp>
#include <flowgraph/core/text_from.hpp>
#include <flowgraph/language/on_devices.hpp>

namespace flowgraph::detail {

// Views of the texts.
template <class Tag = void>
list<std::string_view> device_views(const std::vector<std::string>& devices) {
  list<std::string_view> views;
  for (const std::string& d : devices) views.push_back(d);
  return views;
}
template <class Tag = void>
slice<std::string_view> device_slice(const list<std::string_view>& devices) {
  return {devices.data(), static_cast<int>(devices.size())};
}

template <class Tag = void>
std::string device_list_text(slice<std::string_view> devices) {
  std::string text;
  for (const std::string_view d : devices) text += (text.empty() ? "\"" : ", \"") + std::string(d) + '"';
  return text;
}

// Throws argument_error.
template <class Tag = void>
void require_device_list(slice<std::string_view> devices) {
  const device_list_fault wrong = check_devices(devices);
  if (wrong.why != problem::none)
    throw argument_error(wrong.why, text_from({"session: ", sentence(wrong.why), ": \"", devices[wrong.device], "\""}));
}

}  // namespace flowgraph::detail
