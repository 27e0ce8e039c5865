// fg::dataset: the recipe of a sequence of typed elements, and what can be done with one. Every operation gives a new
// dataset and reads nothing; a `for` over it does the work, from the beginning each time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <flowgraph/core/error.hpp>
#include "batch.hpp"
#include "one_pass.hpp"
#include "prefetch.hpp"
#include "shuffle.hpp"

namespace flowgraph {

namespace detail {

inline void require_dataset_argument(bool ok, std::string_view what, std::int64_t given) {
  if (!ok)
    throw argument_error(problem::dataset_argument, {"dataset: expected ", what, ", got ", std::to_string(given)});
}

// Each element is given away: `auto [x, y] = *i` moves it out.
template <class Sequence>
class dataset_iterator {
 public:
  using value_type = typename decltype(std::declval<Sequence&>().next())::value_type;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;

  explicit dataset_iterator(Sequence sequence) : sequence_(std::move(sequence)), current_(sequence_.next()) {}

  value_type&& operator*() const { return *std::move(current_); }
  dataset_iterator& operator++() {
    current_.reset();
    current_ = sequence_.next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const dataset_iterator& i, std::default_sentinel_t) { return !i.current_; }

 private:
  Sequence sequence_;
  mutable std::optional<value_type> current_;
};

}  // namespace detail

template <class Source>
class dataset {
 public:
  using value_type = detail::value_of<Source>;

  explicit dataset(Source source) : source_(std::move(source)) {}

  // The dataset must outlive its iterators.
  auto begin() const&& = delete;
  auto begin() const& { return detail::dataset_iterator(detail::in_sequence(source_.open(0))); }
  std::default_sentinel_t end() const { return {}; }
  // Where it is known without reading anything.
  std::int64_t size() const
    requires detail::indexed_pass<detail::pass_of<Source>>
  {
    return source_.open(0).size();
  }

  // f(element), or of a tuple f(parts...). Must not change what it captured: several threads may call it.
  template <class F>
  auto map(F f) const {
    return made(detail::map_source<Source, std::decay_t<F>>{source_, std::move(f)});
  }
  // The elements for which f(element), or of a tuple f(parts...), is true.
  template <class F>
  auto filter(F f) const {
    return made(detail::filter_source<Source, std::decay_t<F>>{source_, std::move(f)});
  }
  // All elements in a random order, another in each epoch. Where elements have numbers, only these are shuffled;
  // otherwise all elements are read first.
  auto shuffle(std::uint64_t seed) const {
    if constexpr (detail::indexed_pass<detail::pass_of<Source>>)
      return made(detail::permute_source<Source>{source_, seed});
    else
      return made(detail::shuffle_source<Source>{source_, seed, std::numeric_limits<std::size_t>::max()});
  }
  // Each element is drawn from the next `buffer` ones.
  auto shuffle(std::uint64_t seed, std::int64_t buffer) const {
    detail::require_dataset_argument(buffer >= 1, "a buffer of at least 1 element", buffer);
    return made(detail::shuffle_source<Source>{source_, seed, static_cast<std::size_t>(buffer)});
  }
  // `rows` elements as one: fg::ndarray<T, batch, ...> of numbers and arrays, tuples part by part, std::vector of text.
  // The first extent is named "batch", or batch<name>(rows).
  template <auto Extent = detail::batch_extent>
  auto batch(std::int64_t rows, last_batch last = last_batch::keep) const {
    detail::require_dataset_argument(rows >= 1, "a batch of at least 1 row", rows);
    return made(detail::batch_source<Source, Extent>{source_, rows, last});
  }
  // Full batches only, of an extent that is a number in their type: batch<32>().
  template <int Rows>
  auto batch() const {
    static_assert(Rows >= 1, "dataset: a batch needs at least 1 row");
    return made(detail::batch_source<Source, Rows>{source_, Rows, last_batch::drop});
  }
  // One epoch after another, for ever or so many times.
  auto repeat() const { return made(detail::repeat_source<Source>{source_, -1}); }
  auto repeat(std::int64_t times) const {
    detail::require_dataset_argument(times >= 0, "at least 0 repetitions", times);
    return made(detail::repeat_source<Source>{source_, times});
  }
  // The dataset as its n-th pass gives it: 0 is what a `for` gives, and repeat gives one after another.
  auto epoch(std::uint64_t n) const { return made(detail::epoch_source<Source>{source_, n}); }
  // Every n-th element from the i-th on: n shards together are the whole.
  auto shard(std::int64_t n, std::int64_t i) const {
    detail::require_dataset_argument(n >= 1, "at least 1 shard", n);
    detail::require_dataset_argument(i >= 0 && i < n, "a shard from 0 to " + std::to_string(n - 1), i);
    return made(detail::slice_source<Source>{source_, i, n});
  }
  auto take(std::int64_t count) const {
    detail::require_dataset_argument(count >= 0, "at least 0 elements", count);
    return made(detail::slice_source<Source>{source_, 0, 1, count});
  }
  auto skip(std::int64_t count) const {
    detail::require_dataset_argument(count >= 0, "at least 0 elements", count);
    return made(detail::slice_source<Source>{source_, count});
  }
  // Tuples with the element's number before its parts.
  auto enumerate() const { return made(detail::enumerate_source<Source>{source_}); }
  // Up to `depth` elements made ahead on threads of their own, in order. Several threads share the work where elements
  // have numbers; a sequence is read by one.
  auto prefetch(std::int64_t depth, int threads = 1) const {
    detail::require_dataset_argument(depth >= 1, "room for at least 1 element", depth);
    detail::require_dataset_argument(threads >= 1, "at least 1 thread", threads);
    return made(detail::prefetch_source<Source>{source_, static_cast<std::size_t>(depth), threads});
  }

 private:
  template <class Made>
  static dataset<Made> made(Made source) {
    return dataset<Made>(std::move(source));
  }

  Source source_;
};

}  // namespace flowgraph
