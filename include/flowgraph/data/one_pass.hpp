// One pass over a dataset, and the operations that take one element at a time. A pass is either a sequence,
//   std::optional<value> next()
// or, where every element can be had by its number, indexed: then all that follows can skip, shuffle and share work
// between threads without reading what it does not need, and at() may be called on several threads at once:
//   std::int64_t size() const;  value at(std::int64_t) const
// A source is the recipe of a pass: open(number) begins the pass of that number, 0, 1, ... (an epoch), and what is
// random depends on the seed and that number alone. A pass refers to its source, which must outlive it.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <flowgraph/core/is_tuple.hpp>

namespace flowgraph::detail {

template <class P>
concept indexed_pass = requires(const P& pass, std::int64_t i) {
  { pass.size() } -> std::same_as<std::int64_t>;
  pass.at(i);
};

// An indexed pass from its first element to its last.
template <indexed_pass P>
struct pass_range {
  P pass;
  std::int64_t at = 0;

  auto next() {
    using value = decltype(pass.at(at));
    return at < pass.size() ? std::optional<value>(pass.at(at++)) : std::nullopt;
  }
};

template <class P>
auto in_sequence(P pass) {
  if constexpr (indexed_pass<P>)
    return pass_range<P>{std::move(pass)};
  else
    return pass;
}

template <class Source>
using pass_of = decltype(std::declval<const Source&>().open(0));
template <class Source>
using sequence_of = decltype(in_sequence(std::declval<pass_of<Source>>()));
template <class Source>
using value_of = typename decltype(std::declval<sequence_of<Source>&>().next())::value_type;

// f(value), or f(parts of value...) of a tuple.
template <class F, class Value>
decltype(auto) call(const F& f, Value&& value) {
  if constexpr (is_tuple<std::remove_cvref_t<Value>> && !std::invocable<const F&, Value>)
    return std::apply(f, std::forward<Value>(value));
  else
    return std::invoke(f, std::forward<Value>(value));
}

template <class Source, class F>
struct map_source {
  Source from;
  F f;

  template <class P>
  struct pass {
    P inner;
    const F* f;

    std::int64_t size() const
      requires indexed_pass<P>
    {
      return inner.size();
    }
    auto at(std::int64_t i) const
      requires indexed_pass<P>
    {
      return call(*f, inner.at(i));
    }
    auto next()
      requires(!indexed_pass<P>)
    {
      auto value = inner.next();
      using result = std::decay_t<decltype(call(*f, *std::move(value)))>;
      return value ? std::optional<result>(call(*f, *std::move(value))) : std::nullopt;
    }
  };
  auto open(std::uint64_t number) const { return pass<pass_of<Source>>{from.open(number), &f}; }
};

template <class Source, class F>
struct filter_source {
  Source from;
  F f;

  struct pass {
    sequence_of<Source> inner;
    const F* f;

    auto next() {
      auto value = inner.next();
      while (value && !call(*f, std::as_const(*value))) value = inner.next();
      return value;
    }
  };
  auto open(std::uint64_t number) const { return pass{in_sequence(from.open(number)), &f}; }
};

// Elements first, first + step, ..., at most `count` of them: take, skip and shard.
template <class Source>
struct slice_source {
  Source from;
  std::int64_t first = 0, step = 1, count = std::numeric_limits<std::int64_t>::max();

  template <class P>
  struct pass {
    P inner;
    std::int64_t first, step, count;
    std::int64_t taken = 0;

    std::int64_t size() const
      requires indexed_pass<P>
    {
      const std::int64_t rest = inner.size() - first;
      return rest <= 0 ? 0 : std::min(count, (rest - 1) / step + 1);
    }
    auto at(std::int64_t i) const
      requires indexed_pass<P>
    {
      return inner.at(first + i * step);
    }
    auto next()
      requires(!indexed_pass<P>)
    {
      decltype(inner.next()) value;
      if (taken == count) return value;
      const std::int64_t skipped = taken++ == 0 ? first : step - 1;
      value = inner.next();
      for (std::int64_t i = 0; i < skipped && value; ++i) value = inner.next();
      if (!value) taken = count;  // a sequence that has ended is not asked again
      return value;
    }
  };
  auto open(std::uint64_t number) const { return pass<pass_of<Source>>{from.open(number), first, step, count}; }
};

template <class Source>
struct enumerate_source {
  Source from;

  template <class Value>
  static auto numbered(std::int64_t i, Value&& value) {
    if constexpr (is_tuple<std::remove_cvref_t<Value>>)
      return std::tuple_cat(std::tuple(i), std::forward<Value>(value));
    else
      return std::tuple(i, std::forward<Value>(value));
  }

  template <class P>
  struct pass {
    P inner;
    std::int64_t count = 0;

    std::int64_t size() const
      requires indexed_pass<P>
    {
      return inner.size();
    }
    auto at(std::int64_t i) const
      requires indexed_pass<P>
    {
      return numbered(i, inner.at(i));
    }
    auto next()
      requires(!indexed_pass<P>)
    {
      auto value = inner.next();
      using result = decltype(numbered(0, *std::move(value)));
      return value ? std::optional<result>(numbered(count++, *std::move(value))) : std::nullopt;
    }
  };
  auto open(std::uint64_t number) const { return pass<pass_of<Source>>{from.open(number)}; }
};

// Pass after pass, each with the next number. times -1: without end, but for a pass that has no element.
template <class Source>
struct repeat_source {
  Source from;
  std::int64_t times;

  struct pass {
    const repeat_source* source;
    std::uint64_t number;
    std::int64_t done = 0;
    std::optional<sequence_of<Source>> inner{};

    auto next() {
      std::optional<value_of<Source>> value;
      while (!value && done != source->times) {
        const bool fresh = !inner;
        if (fresh) inner.emplace(in_sequence(source->from.open(number++)));
        value = inner->next();
        if (value) break;
        inner.reset();
        done = fresh && source->times < 0 ? source->times : done + 1;
      }
      return value;
    }
  };
  auto open(std::uint64_t number) const {
    return pass{this, times > 0 ? number * static_cast<std::uint64_t>(times) : number};
  }
};

// The passes from another number on.
template <class Source>
struct epoch_source {
  Source from;
  std::uint64_t first;

  auto open(std::uint64_t number) const { return from.open(first + number); }
};

}  // namespace flowgraph::detail
