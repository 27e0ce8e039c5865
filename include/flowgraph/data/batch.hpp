// Several elements as one: numbers and arrays are piled along a new first axis, tuples part by part, text becomes a
// std::vector.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <flowgraph/arrays/ndarray.hpp>
#include "one_pass.hpp"

namespace flowgraph {

// What becomes of the elements after the last full batch.
enum class last_batch { keep, drop };

namespace detail {

inline constexpr dim batch_extent{"batch"};

// part(i) is the part of row i that is piled.
template <auto Extent, class Value>
struct piled {
  static_assert(element<Value> || std::is_same_v<Value, std::string>,
                "batch: an element must be a number, an array, text, or a std::tuple of these");
};

template <auto Extent, element T>
struct piled<Extent, T> {
  template <class Part>
  static auto of(std::int64_t count, const Part& part) {
    return ndarray<T, Extent>({count}, [&](T* to) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = part(i);
    });
  }
};

template <auto Extent>
struct piled<Extent, std::string> {
  template <class Part>
  static auto of(std::int64_t count, const Part& part) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(part(i));
    return all;
  }
};

template <auto Extent, class T, auto... E>
struct piled_arrays {
  template <class Part>
  static auto of(std::int64_t count, const Part& part) {
    using result = ndarray<T, Extent, E...>;
    typename result::dims_type dims{count};
    const auto& first = part(0).dims();
    std::copy(first.begin(), first.end(), dims.begin() + 1);
    for (std::int64_t i = 1; i < count; ++i)
      if (part(i).dims() != first) refuse(first, i, part(i).dims());
    return result(dims, [&](T* to) {
      for (std::int64_t i = 0; i < count; ++i) to = std::copy(part(i).begin(), part(i).end(), to);
    });
  }

 private:
  using row = ndview<const T, E...>;

  static std::string text(const typename row::dims_type& dims) {
    return shape_to_text(dtype_of<T>, row::shape, dims.data());
  }
  [[noreturn]] static void refuse(const typename row::dims_type& first, std::int64_t i,
                                  const typename row::dims_type& other) {
    throw argument_error(problem::dataset_rows, "batch: expected rows of " + text(first) + ", as the first is, got " +
                                                    text(other) + " in row " + std::to_string(i));
  }
};
template <auto Extent, class T, auto... E>
struct piled<Extent, ndarray<T, E...>> : piled_arrays<Extent, T, E...> {};
template <auto Extent, class T, auto... E>
struct piled<Extent, ndview<T, E...>> : piled_arrays<Extent, std::remove_const_t<T>, E...> {};

template <auto Extent, class... Values>
struct piled<Extent, std::tuple<Values...>> {
  template <class Part>
  static auto of(std::int64_t count, const Part& part) {
    return parts(count, part, std::index_sequence_for<Values...>{});
  }

 private:
  template <class Part, std::size_t... I>
  static auto parts(std::int64_t count, const Part& part, std::index_sequence<I...>) {
    return std::tuple(
        piled<Extent, Values>::of(count, [&](std::int64_t i) -> const Values& { return std::get<I>(part(i)); })...);
  }
};

template <class Source, auto Extent>
struct batch_source {
  Source from;
  std::int64_t rows;
  last_batch last;

  template <class Value>
  static auto stack(const std::vector<Value>& all) {
    return piled<Extent, Value>::of(static_cast<std::int64_t>(all.size()),
                                    [&](std::int64_t i) -> const Value& { return all[static_cast<std::size_t>(i)]; });
  }

  template <class P>
  struct pass {
    P inner;
    std::int64_t rows;
    last_batch last;

    std::int64_t size() const
      requires indexed_pass<P>
    {
      return inner.size() / rows + (last == last_batch::keep && inner.size() % rows > 0 ? 1 : 0);
    }
    auto at(std::int64_t i) const
      requires indexed_pass<P>
    {
      std::vector<decltype(inner.at(0))> all;
      for (std::int64_t row = i * rows; row < std::min(inner.size(), (i + 1) * rows); ++row)
        all.push_back(inner.at(row));
      return stack(all);
    }
    auto next()
      requires(!indexed_pass<P>)
    {
      std::vector<typename decltype(inner.next())::value_type> all;
      while (!ended && static_cast<std::int64_t>(all.size()) < rows) {
        if (auto row = inner.next())
          all.push_back(*std::move(row));
        else
          ended = true;
      }
      const bool give = !all.empty() && (!ended || last == last_batch::keep);
      return give ? std::optional<decltype(stack(all))>(stack(all)) : std::nullopt;
    }

    bool ended = false;
  };
  auto open(std::uint64_t number) const { return pass<pass_of<Source>>{from.open(number), rows, last}; }
};

}  // namespace detail
}  // namespace flowgraph
