// A region of element-wise steps as straight-line code: each value is computed once, for as many elements as the
// processor has lanes, and lives in a register. A type per region, made of its ops, the registers they read and the
// ways its operands are walked, so that equal regions are one function wherever they stand.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "elementwise.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

namespace flowgraph::detail {

// How an operand is read where the region's value is walked element by element. The value's inner axes make a row.
enum class operand_walk : std::uint8_t {
  unread,    // by the region; its op reads it
  whole,     // it has the value's shape
  one,       // one number
  row,       // one row, repeated
  column,    // one number for each row
  scattered  // none of these: such a region is not compiled
};

template <class X, operand_walk Walk>
struct region_operand {
  using type = X;
  static constexpr operand_walk how = Walk;
};

// In: registers as the plan numbers them.
template <class Op, class Result, int... In>
struct region_step {
  using op = Op;
  using result = Result;
  using in = std::integer_sequence<int, In...>;
};

template <class... Part>
struct region_parts {
  static constexpr int count = static_cast<int>(sizeof...(Part));
  template <int I>
  using part = std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<Part...>>;
};

// T: what its numbers are; all else is truth values. InnerAxes: how many make a row; 0: no operand has rows.
template <class T, int InnerAxes, class Operands, class Steps>
class compiled_region {
 public:
  static void compute(const array_view* in, const array_view& value, void* to, std::int64_t first, std::int64_t last) {
    const compiled_region region(in, std::make_integer_sequence<int, Operands::count>{});
    auto* out = static_cast<result*>(to);
    if constexpr (InnerAxes == 0) {
      region.run(out, first, first, last - first);
    } else {
      std::int64_t length = 1;
      for (int i = 0; i < InnerAxes; ++i) length *= value.last(i);
      compiled_region row = region;
      for (std::int64_t at = first; at < last;) {
        const std::int64_t j = at % length, n = std::min(last - at, length - j);
        row.hold_columns(at / length, std::make_integer_sequence<int, Operands::count>{});
        row.run(out + (at - first), at, j, n);
        at += n;
      }
    }
  }

 private:
  using result = typename Steps::template part<Steps::count - 1>::result;

  // Of a register.
  template <int R>
  static constexpr auto element_of() {
    if constexpr (R >= 0)
      return std::type_identity<typename Steps::template part<R>::result>{};
    else
      return std::type_identity<typename Operands::template part<-1 - R>::type>{};
  }
  template <int R>
  using element = typename decltype(element_of<R>())::type;
  template <int R>
  using value_of = lanes_of<T, element<R>>;

  template <int... K>
  compiled_region(const array_view* in, std::integer_sequence<int, K...>) {
    (..., (data_[K] = in[K].data));
    (..., [&] {
      if constexpr (Operands::template part<K>::how == operand_walk::one) hold<K>(0);
    }());
  }

  // One element of an operand in all lanes.
  template <int K>
  void hold(std::int64_t at) {
    using X = element<-1 - K>;
    const X x = static_cast<const X*>(data_[K])[at];
    if constexpr (std::is_same_v<X, bool>)
      held_[K] = lane_math::less(lanes<T>(T(0)), lanes<T>(static_cast<T>(x))).p;
    else
      held_[K] = lanes<T>(x).p;
  }
  template <int... K>
  void hold_columns(std::int64_t row, std::integer_sequence<int, K...>) {
    (..., [&] {
      if constexpr (Operands::template part<K>::how == operand_walk::column) hold<K>(row);
    }());
  }

  // n elements, the first of them number `at` of the value and number j of its row.
  void run(result* to, std::int64_t at, std::int64_t j, std::int64_t n) const {
    constexpr auto steps = std::make_integer_sequence<int, Steps::count>{};
    std::int64_t i = 0;
    for (; i + lane_count<T> <= n; i += lane_count<T>) evaluate(steps, at + i, j + i).store(to + i);
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      evaluate(steps, at + i, j + i, rest).store(to + i, rest);
    }
  }

  // count: none, or how many lanes matter.
  template <int... S, class... Count>
  value_of<Steps::count - 1> evaluate(std::integer_sequence<int, S...>, std::int64_t at, std::int64_t j,
                                      Count... count) const {
    packet<T> values[Steps::count];
    const auto read = [&]<int R>(std::integral_constant<int, R>) -> value_of<R> {
      if constexpr (R >= 0) {
        return {values[R]};
      } else {
        constexpr operand_walk how = Operands::template part<-1 - R>::how;
        const auto* x = static_cast<const element<R>*>(data_[-1 - R]);
        if constexpr (how == operand_walk::whole)
          return load_lanes<T>(x, at, count...);
        else if constexpr (how == operand_walk::row)
          return load_lanes<T>(x, j, count...);
        else
          return {held_[-1 - R]};
      }
    };
    const auto step = [&]<int I, int... In>(std::integral_constant<int, I>, std::integer_sequence<int, In...>) {
      values[I] = apply<typename Steps::template part<I>>(read(std::integral_constant<int, In>{})...).p;
    };
    (..., step(std::integral_constant<int, S>{}, typename Steps::template part<S>::in{}));
    return {values[Steps::count - 1]};
  }

  template <class Step, class... X>
  static auto apply(const X&... x) {
    if constexpr (std::is_same_v<typename Step::op, ops::cast>)
      return convert_lanes<typename Step::result>(x...);
    else
      return Step::op::function::apply(lane_math{}, x...);
  }
  template <class To, class X>
  static lanes_of<T, To> convert_lanes(const X& x) {
    if constexpr (std::is_same_v<X, lanes_of<T, To>>)
      return x;
    else if constexpr (std::is_same_v<To, bool>)
      return lane_math::not_equal(x, lane_math::like(x, 0));
    else
      return x.numbers();
  }

  const void* data_[Operands::count];
  packet<T> held_[Operands::count];  // of operands that are one number, for the whole value or for a row
};

}  // namespace flowgraph::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
