// A C++ function of the user's as an op. The name that the user gives is the op's, with the element types behind it,
// because a node knows its op by name and a plan must find the function again.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <flowgraph/plan/kernel_args.hpp>

namespace flowgraph {

// What the function gets: elements and extents, contiguous, row by row. The memory is the step's: it lasts as long as
// the call.
template <class T>
struct array_ref {
  T* data = nullptr;
  const std::int64_t* dims = nullptr;
  int rank = 0;

  std::int64_t dim(int axis) const { return dims[axis]; }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  T* begin() const { return data; }
  T* end() const { return data + size(); }
  T& operator[](std::int64_t i) const { return data[i]; }
  // As many indices as axes.
  template <std::integral... I>
  T& operator()(I... index) const {
    std::int64_t at = 0;
    int axis = 0;
    ((at = at * dims[axis++] + static_cast<std::int64_t>(index)), ...);
    return data[at];
  }
};

}  // namespace flowgraph

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
  static void run(const kernel_args& k) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (std::is_void_v<Result>)
        Function(elements<const In>(k.in[I])...);
      else
        Function(elements<const In>(k.in[I])..., elements<Result>(k.out[0]));
    }(std::index_sequence_for<In...>{});
  }

 private:
  template <class T>
  static array_ref<T> elements(const array_view& a) {
    return {a.as<T>(), a.dims, a.rank};
  }
};

}  // namespace flowgraph::ops
