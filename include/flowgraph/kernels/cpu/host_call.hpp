// Calls of users' functions.
#pragma once
#include <tuple>
#include <utility>

#include <flowgraph/dsl/host_call.hpp>
#include <flowgraph/kernels/kernel.hpp>

namespace flowgraph {

template <fixed_string Name, auto Function, class Result, class... In>
struct cpu_kernel<ops::host_call<Name, Function, Result, In...>> {
  static void run(const kernel_args& k) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (std::is_void_v<Result>)
        Function(ref<const In>(k.in[I])...);
      else
        Function(ref<const In>(k.in[I])..., ref<Result>(k.out[0]));
    }(std::index_sequence_for<In...>{});
  }

 private:
  template <class T>
  static array_ref<T> ref(const array_view& a) {
    return {a.as<T>(), a.dims, a.rank};
  }
};

}  // namespace flowgraph
