// A C++ function of the user's as an op. The name that the user gives is the op's, with the element types behind it,
// because a node knows its op by name and a plan must find the function again.
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <flowgraph/graph/inference.hpp>

namespace flowgraph::detail {

// "host_call:name(float,int32)->float"
template <fixed_string Name, class Result, class... In>
consteval auto host_call_name() {
  constexpr auto write = [](char* out) {
    std::size_t n = 0;
    const auto add = [&](std::string_view s) {
      for (const char c : s) {
        if (out != nullptr) out[n] = c;
        ++n;
      }
    };
    add("host_call:");
    add(Name.view());
    add("(");
    bool first = true;
    ((add(first ? "" : ","), add(name_of(dtype_of<In>)), first = false), ...);
    add(")");
    if constexpr (dtype_of<Result> != dtype::none) {
      add("->");
      add(name_of(dtype_of<Result>));
    }
    return n;
  };
  constexpr std::size_t length = write(nullptr);
  char text[length + 1]{};
  write(text);
  return fixed_string<length + 1>(text);
}

}  // namespace flowgraph::detail

namespace flowgraph::ops {

// Function is called with the operands of element types In and the result of type Result; void: it has none. It may
// have effects of its own, so calls are neither merged nor left out, and run in the order they were written.
template <fixed_string Name, auto Function, class Result, class... In>
struct host_call : op<host_call<Name, Function, Result, In...>, detail::host_call_name<Name, Result, In...>()> {
  static constexpr trait traits = trait::stateful;
  static constexpr void infer(inference& f) {
    if constexpr (!std::is_void_v<Result>) f.out(f.declared(), f.declared_type());
  }
};

}  // namespace flowgraph::ops
