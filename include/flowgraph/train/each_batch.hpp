// fg::each: what is done with every batch of a dataset, and which numbers come of it. fg::fit trains by one, and
// validates by another.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/core/callback.hpp>
#include <flowgraph/core/is_tuple.hpp>
#include <flowgraph/core/other_half.hpp>
#include <flowgraph/session/feed.hpp>
#include <flowgraph/session/session_access.hpp>
#include "fit_options.hpp"

namespace flowgraph {

template <fixed_string... Name>
struct into_placeholders {};
// Where the parts of a batch go: fg::into<"x", "y">.
template <fixed_string... Name>
inline constexpr into_placeholders<Name...> into{};

namespace detail {

using after_batch = callback<void(std::int64_t rows, callback<std::vector<fit_value>()> values)>;
using add_batch = callback<void(std::int64_t rows, const std::vector<double>& numbers)>;

inline namespace FLOWGRAPH_HALF {

// all(add) adds one batch after another. Throws argument_error where they have no rows.
FLOWGRAPH_OTHER_HALF std::vector<fit_value> mean_of_batches(const std::vector<std::string>& names,
                                                            callback<void(add_batch)> all, after_batch after);
FLOWGRAPH_OTHER_HALF void add_values(std::vector<fit_value>& to, const std::vector<std::string>& names,
                                     const std::vector<double>& numbers);
// Throw argument_error.
FLOWGRAPH_OTHER_HALF void require_rows(std::int64_t rows);
FLOWGRAPH_OTHER_HALF void require_values(std::size_t given, const std::vector<std::string>& names);
// Those that have a value: not the operations.
FLOWGRAPH_OTHER_HALF std::vector<std::string> names_of_values(const graph_view& g,
                                                              std::initializer_list<std::string_view> fetches);

}  // namespace FLOWGRAPH_HALF

// Numbers out of what a step returns: nothing, one, or a tuple of them.
template <class V>
void add_numbers(const V& v, std::vector<double>& to) {
  if constexpr (is_tuple<V>) {
    std::apply([&](const auto&... each) { (add_numbers(each, to), ...); }, v);
  } else {
    static_assert(element<V>, "fit: values must be scalars; reduce them in the graph");
    to.push_back(static_cast<double>(v));
  }
}
template <class Act>
std::vector<double> numbers_of(const Act& act) {
  std::vector<double> numbers;
  if constexpr (std::is_void_v<decltype(act())>)
    act();
  else
    add_numbers(act(), numbers);
  return numbers;
}

// s.run<Fetch...>(feeds).
template <class Feeds, fixed_string... Fetch>
struct named_step;
template <fixed_string... Feed, fixed_string... Fetch>
struct named_step<into_placeholders<Feed...>, Fetch...> {
  template <class Session, class... Parts>
  std::vector<double> operator()(Session& s, const Parts&... parts) const {
    static_assert(sizeof...(Parts) == sizeof...(Feed),
                  "fit: fg::into must name a placeholder for each part of a batch");
    return numbers_of([&] { return s.template run<Fetch...>(feed<Feed>(parts)...); });
  }
  template <class Session>
  std::vector<std::string> names(const Session& s) const {
    return names_of_values(session_access::graph_of(s), {Fetch.view()...});
  }
};
// A function of the user's, of the parts of a batch.
template <class F>
struct own_step {
  F function;
  std::vector<std::string> value_names;

  template <class Session, class... Parts>
  std::vector<double> operator()(Session&, const Parts&... parts) const {
    std::vector<double> numbers = numbers_of([&] { return function(parts...); });
    require_values(numbers.size(), value_names);
    return numbers;
  }
  template <class Session>
  const std::vector<std::string>& names(const Session&) const {
    return value_names;
  }
};
struct no_step {
  template <class Session>
  std::vector<double> operator()(Session&) const {
    return {};
  }
  template <class Session>
  std::vector<std::string> names(const Session&) const {
    return {};
  }
};

// How many rows a batch has: the first extent of its first part.
template <class First, class... Rest>
std::int64_t rows_of(const First& first, const Rest&...) {
  if constexpr (requires { first.dims()[0]; })
    return first.dims().empty() ? 1 : first.dims()[0];
  else if constexpr (requires { first.size(); })
    return static_cast<std::int64_t>(first.size());
  else
    return 1;
}

}  // namespace detail

// Steps is called with the session and the parts of a batch; First and Last with the session, before and after.
template <class Data, class Steps, class First = detail::no_step, class Last = detail::no_step>
class each_batch {
 public:
  each_batch(Data data, Steps steps, First first = {}, Last last = {})
      : data_(std::move(data)),
        steps_(std::move(steps)),
        first_(std::move(first)),
        last_(std::move(last)) {}

  // Run before the first batch: .first<"reset">().
  template <fixed_string... Fetch>
  auto first() const {
    using step = detail::named_step<into_placeholders<>, Fetch...>;
    return each_batch<Data, Steps, step, Last>(data_, steps_, step{}, last_);
  }
  // Run after the last one; its values join the others: .last<"accuracy">().
  template <fixed_string... Fetch>
  auto last() const {
    using step = detail::named_step<into_placeholders<>, Fetch...>;
    return each_batch<Data, Steps, First, step>(data_, steps_, first_, step{});
  }

  template <class Session>
  std::vector<std::string> names(const Session& s) const {
    std::vector<std::string> all = steps_.names(s);
    for (std::string& name : last_.names(s)) all.push_back(std::move(name));
    return all;
  }
  // Where the dataset knows it without reading; else 0.
  std::int64_t size() const {
    if constexpr (requires { static_cast<std::int64_t>(data_.size()); })
      return static_cast<std::int64_t>(data_.size());
    else
      return 0;
  }

  // Once over all batches of this epoch. Gives the mean of each value over all rows, then what `last` gives.
  // after(rows, values so far) is called after each batch. Throws argument_error where there are no rows.
  template <class Session, class After>
  std::vector<fit_value> run(Session& s, std::uint64_t epoch, const After& after) const {
    first_(s);
    const auto over = [&](const auto& batches, detail::add_batch add) {
      const auto one = [&](const auto&... parts) {
        const std::int64_t rows = detail::rows_of(parts...);
        detail::require_rows(rows);  // before the step: it would train by a mean over nothing
        add(rows, steps_(s, parts...));
      };
      for (auto&& b : batches) {
        if constexpr (detail::is_tuple<std::remove_cvref_t<decltype(b)>>)
          std::apply(one, b);
        else
          one(b);
      }
    };
    const auto all = [&](detail::add_batch add) {
      if constexpr (requires { data_.epoch(epoch); })
        over(data_.epoch(epoch), add);
      else
        over(data_, add);
    };
    std::vector<fit_value> values = detail::mean_of_batches(steps_.names(s), all, after);
    const std::vector<double> numbers = last_(s);
    detail::add_values(values, last_.names(s), numbers);
    return values;
  }

 private:
  Data data_;
  Steps steps_;
  First first_;
  Last last_;
};

// Of a session<model>: fg::each<"loss", "train">(batches, fg::into<"x", "y">).
template <fixed_string... Fetch, class Data, fixed_string... Feed>
auto each(Data data, into_placeholders<Feed...>) {
  return each_batch(std::move(data), detail::named_step<into_placeholders<Feed...>, Fetch...>{});
}
// Whatever a function does with the parts of a batch, and what the numbers that it returns are called:
// fg::each(batches, [&](const auto& x, const auto& y) { return s.run(loss, train, ...); }, {"loss"}).
template <class Data, class F>
auto each(Data data, F function, std::vector<std::string> names) {
  return each_batch(std::move(data), detail::own_step<F>{std::move(function), std::move(names)});
}

namespace detail {

template <class T>
inline constexpr bool is_each_batch = false;
template <class... T>
inline constexpr bool is_each_batch<each_batch<T...>> = true;

}  // namespace detail
}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "each_batch_code.hpp"
#endif
