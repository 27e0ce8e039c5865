// What branches and loops' bodies give, as tuples of tensors: numbers become scalars, of the type that is wanted there.
#pragma once
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/core/is_tuple.hpp>
#include "elementwise.hpp"

namespace flowgraph::detail {

// f with the elements of a tuple. std::apply would add a page to the diagnostic of whatever is wrong inside.
template <class F, class... T>
constexpr auto spread(const F& f, const std::tuple<T...>& all) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return f(std::get<I>(all)...);
  }(std::index_sequence_for<T...>{});
}

template <class F, class... Arguments>
concept takes = requires(const F& f, const Arguments&... arguments) { f(arguments...); };

// A number that the language takes for a scalar tensor.
template <class T>
concept scalar_value = number<T> || std::is_same_v<T, bool>;

// Types of what a branch or a body gives, one behind the other. Operations run anyway: nothing is left to say of them.
template <class T>
struct flat_results {
  using type = std::tuple<T>;
};
template <any_tensor T>
struct flat_results<T> {
  using type = std::tuple<tensor_t<T>>;
};
template <>
struct flat_results<void> {
  using type = std::tuple<>;
};
template <>
struct flat_results<operation> {
  using type = std::tuple<>;
};
template <class... T>
struct flat_results<std::tuple<T...>> {
  using type = decltype(std::tuple_cat(std::declval<typename flat_results<std::remove_cvref_t<T>>::type>()...));
};
template <class F, class... Arguments>
using given_by = typename flat_results<
    std::remove_cvref_t<decltype(std::declval<const F&>()(std::declval<const Arguments&>()...))>>::type;

// A tensor as it is; a number as a scalar of the wanted element type, or of its own where no scalar is wanted.
template <class Wanted, class T>
constexpr auto as_result(graph_data& g, const T& t) {
  if constexpr (any_tensor<T>) {
    return tensor_t<T>(t);
  } else if constexpr (scalar_value<T>) {
    using type = std::conditional_t<scalar_tensor<Wanted>, Wanted, tensor<T>>;
    if constexpr (std::is_same_v<T, bool>)
      return tensor_t<type>(literal_tensor<element_t<type>>(g.where, g, static_cast<int>(t)));
    else
      return tensor_t<type>(literal_tensor<element_t<type>>(g.where, g, t));
  } else {
    if constexpr (!is_unknown<T>) mistake<problem::region_result, T>();
    return unknown_among(g);
  }
}

// Element I of a tuple's types, void behind the last.
template <std::size_t I, class Tuple>
struct type_at {
  using type = void;
};
template <std::size_t I, class... T>
  requires(I < sizeof...(T))
struct type_at<I, std::tuple<T...>> {
  using type = std::tuple_element_t<I, std::tuple<T...>>;
};

// What a branch or a body gives, as a tuple of tensors.
template <class Wanted, std::size_t First = 0, class T>
constexpr auto as_results(graph_data& g, const T& t) {
  if constexpr (std::is_same_v<T, operation>) {
    return std::tuple<>{};
  } else if constexpr (is_tuple<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      // Where each element's first result stands.
      constexpr std::size_t sizes[] = {std::tuple_size_v<typename flat_results<std::tuple_element_t<I, T>>::type>...,
                                       0};
      constexpr auto begin = [=](std::size_t k) {
        std::size_t sum = First;
        for (std::size_t i = 0; i < k; ++i) sum += sizes[i];
        return sum;
      };
      return std::tuple_cat(as_results<Wanted, begin(I)>(g, std::get<I>(t))...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    return std::tuple(as_result<typename type_at<First, Wanted>::type>(g, t));
  }
}

// Wanted: the types that numbers should become, if anybody knows them.
template <class Wanted, class F, class... Arguments>
constexpr auto results_in(graph_data& g, const F& f, const Arguments&... arguments) {
  if constexpr (std::is_void_v<decltype(f(arguments...))>) {
    f(arguments...);
    return std::tuple<>{};
  } else {
    return as_results<Wanted>(g, f(arguments...));
  }
}
template <class F, class First, class... Rest>
constexpr auto results_of(const F& f, const First& first, const Rest&... rest) {
  return results_in<std::tuple<>>(*first.graph, f, first, rest...);
}

template <class Tuple>
inline constexpr bool has_unknown = false;
template <class... T>
inline constexpr bool has_unknown<std::tuple<T...>> = (is_unknown<T> || ...);

// The types that all branches should give: where one gives a tensor and another a number, the tensor's.
template <class A, class B>
struct common_results {
  using type = A;
};
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct common_results<std::tuple<A...>, std::tuple<B...>> {
  using type = std::tuple<std::conditional_t<any_tensor<A> || !any_tensor<B>, A, B>...>;
};
template <class First, class... Rest>
struct wanted_results {
  using type = First;
};
template <class First, class Second, class... Rest>
struct wanted_results<First, Second, Rest...> {
  using type = typename wanted_results<typename common_results<First, Second>::type, Rest...>::type;
};

}  // namespace flowgraph::detail
