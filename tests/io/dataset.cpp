// Datasets from memory and the operations on them; that each is lazy, reproducible and gives every element once.
#include <flowgraph/data.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "collect.hpp"

namespace fg = flowgraph;
using fg::testing::collect;
using fg::testing::numbers;

namespace {

inline constexpr fg::dim batch{"batch"};
inline constexpr fg::dim rows{"rows"};
inline constexpr fg::dim time_extent{"time"};

// Without numbers of its own: what comes from a file or a filter.
template <class Data>
auto unnumbered(const Data& data) {
  return data.filter([](const auto&...) { return true; });
}

template <class Data>
concept known_size = requires(const Data& d) { d.size(); };

std::string message(const auto& act) {
  try {
    act();
  } catch (const fg::argument_error& e) {
    return e.what();
  }
  return "no argument_error";
}

}  // namespace

TEST_CASE("a dataset of arrays gives their rows in step, typed") {
  const fg::ndarray<float, rows, 2> images{{1, 2}, {3, 4}, {5, 6}};
  const std::vector<std::int64_t> labels{7, 8, 9};
  const auto data = fg::from_memory(images, labels);
  static_assert(std::same_as<decltype(data)::value_type, std::tuple<fg::ndview<const float, 2>, std::int64_t>>);
  static_assert(std::ranges::input_range<decltype(data)>);
  CHECK(data.size() == 3);
  int i = 0;
  for (auto [image, label] : data) {
    CHECK(image.data() == images.data() + 2 * i);  // borrowed, not copied
    CHECK(label == labels[static_cast<std::size_t>(i++)]);
  }
  CHECK(i == 3);
}

TEST_CASE("what is moved in lives as long as what is made of it; one array gives its rows bare") {
  auto data = [] {
    const auto whole = fg::from_memory(std::vector<std::string>{"a", "b", "c"});
    return whole.skip(1).map([](const std::string& s) { return s + "!"; });
  }();
  CHECK(collect(data) == std::vector<std::string>{"b!", "c!"});

  auto matrix = fg::from_memory(fg::ndarray<double, 2, 2>{{1, 2}, {3, 4}});
  double sum = 0;
  for (auto row : matrix.skip(1)) sum += row(0) * 10 + row(1);
  CHECK(sum == 34);
  CHECK(collect(fg::from_memory(std::vector<bool>{true, false})) == std::vector<bool>{true, false});
}

TEST_CASE("arrays of different lengths are refused") {
  CHECK(message([] { (void)fg::from_memory(numbers(3), numbers(4)); }) ==
        "from_memory: expected equally many rows in each array, got 3 and 4");
}

TEST_CASE("nothing is read before the for, and no more than is asked for") {
  int calls = 0;
  const auto data = fg::from_memory(numbers(100)).map([&calls](int x) { return ++calls, x * x; });
  const auto some = data.skip(10).take(3);
  CHECK(calls == 0);
  CHECK(collect(some) == std::vector<int>{100, 121, 144});
  CHECK(calls == 3);
  for (int x : unnumbered(data)) {
    if (x == 4) break;
  }
  CHECK(calls == 6);
}

TEST_CASE("map and filter call with the parts of a tuple, or with the tuple") {
  const auto data = fg::from_memory(numbers(6), numbers(6));
  CHECK(collect(data.map([](int a, int b) { return a + b; })) == std::vector<int>{0, 2, 4, 6, 8, 10});
  CHECK(collect(data.filter([](int a, int) { return a % 2 == 1; }).map([](const std::tuple<int, int>& t) {
          return std::get<1>(t);
        })) == std::vector<int>{1, 3, 5});
}

TEST_CASE("take, skip and shard agree with and without numbered elements") {
  for (int n = 0; n < 12; ++n) {
    const auto data = fg::from_memory(numbers(n));
    for (int k = 0; k < 14; ++k) {
      CHECK(collect(data.take(k)) == collect(unnumbered(data).take(k)));
      CHECK(collect(data.skip(k)) == collect(unnumbered(data).skip(k)));
      CHECK(data.take(k).size() == std::min(n, k));
      CHECK(data.skip(k).size() == std::max(n - k, 0));
    }
    for (int shards = 1; shards < 5; ++shards) {
      std::vector<int> all;
      for (int i = 0; i < shards; ++i) {
        const auto part = collect(data.shard(shards, i));
        CHECK(part == collect(unnumbered(data).shard(shards, i)));
        CHECK(std::all_of(part.begin(), part.end(), [&](int x) { return x % shards == i; }));
        all.insert(all.end(), part.begin(), part.end());
      }
      std::sort(all.begin(), all.end());
      CHECK(all == numbers(n));
    }
  }
}

TEST_CASE("arguments out of range are refused when the dataset is made") {
  const auto data = fg::from_memory(numbers(3));
  CHECK(message([&] { (void)data.batch(0); }) == "dataset: expected a batch of at least 1 row, got 0");
  CHECK(message([&] { (void)data.shard(2, 2); }) == "dataset: expected a shard from 0 to 1, got 2");
  CHECK(message([&] { (void)data.shard(0, 0); }) == "dataset: expected at least 1 shard, got 0");
  CHECK(message([&] { (void)data.take(-1); }) == "dataset: expected at least 0 elements, got -1");
  CHECK(message([&] { (void)data.skip(-1); }) == "dataset: expected at least 0 elements, got -1");
  CHECK(message([&] { (void)data.repeat(-1); }) == "dataset: expected at least 0 repetitions, got -1");
  CHECK(message([&] { (void)data.shuffle(1, 0); }) == "dataset: expected a buffer of at least 1 element, got 0");
  CHECK(message([&] { (void)data.prefetch(0); }) == "dataset: expected room for at least 1 element, got 0");
  CHECK(message([&] { (void)data.prefetch(1, 0); }) == "dataset: expected at least 1 thread, got 0");
}

TEST_CASE("shuffle gives every element once, in an order that seed and epoch decide") {
  const auto data = fg::from_memory(numbers(50));
  const auto check = [&](const auto& shuffled, const auto& other_seed) {
    const auto once = collect(shuffled);
    CHECK(once == collect(shuffled));
    CHECK(once != numbers(50));
    CHECK(once != collect(other_seed));
    CHECK(once != collect(shuffled.epoch(1)));
    CHECK(collect(shuffled.epoch(1)) == collect(shuffled.epoch(1)));
    auto sorted = once;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == numbers(50));

    // repeat is one epoch after another.
    auto two = once;
    for (int x : collect(shuffled.epoch(1))) two.push_back(x);
    CHECK(collect(shuffled.repeat(2)) == two);
    CHECK(collect(shuffled.repeat().take(100)) == two);
  };
  static_assert(known_size<decltype(data.shuffle(1))> && !known_size<decltype(unnumbered(data).shuffle(1))>);
  check(data.shuffle(1), data.shuffle(2));
  check(unnumbered(data).shuffle(1), unnumbered(data).shuffle(2));
  check(data.shuffle(1, 10), data.shuffle(2, 10));
  CHECK(collect(data.shuffle(1, 1)) == numbers(50));
}

TEST_CASE("an element of a buffered shuffle comes at most a buffer early") {
  const auto shuffled = collect(fg::from_memory(numbers(1000)).shuffle(3, 16));
  for (int i = 0; i < 1000; ++i) CHECK(shuffled[static_cast<std::size_t>(i)] <= i + 15);
}

TEST_CASE("every permutation of a shuffle is about equally likely") {
  std::map<std::vector<int>, int> seen;
  const auto data = fg::from_memory(numbers(4));
  for (std::uint64_t seed = 0; seed < 2400; ++seed) {
    ++seen[collect(data.shuffle(seed))];
    ++seen[collect(unnumbered(data).shuffle(seed))];
  }
  CHECK(seen.size() == 24);
  // 200 each are expected; six standard deviations are 84.
  for (const auto& [order, count] : seen) CHECK(std::abs(count - 200) < 84);
}

TEST_CASE("repeat ends where it should, also of nothing") {
  const auto data = fg::from_memory(numbers(3));
  CHECK(collect(data.repeat(0)).empty());
  CHECK(collect(data.repeat(2)) == std::vector<int>{0, 1, 2, 0, 1, 2});
  CHECK(collect(data.repeat(2).repeat(2)).size() == 12);
  CHECK(collect(data.take(0).repeat()).empty());
  CHECK(collect(data.repeat().skip(4).take(4)) == std::vector<int>{1, 2, 0, 1});
  // Epochs of a repeated dataset go on where the last one ended.
  const auto twice = data.shuffle(1).repeat(2);
  auto all = collect(twice);
  for (int x : collect(twice.epoch(1))) all.push_back(x);
  CHECK(collect(data.shuffle(1).repeat(4)) == all);
}

TEST_CASE("enumerate puts the number before the parts") {
  const auto data = fg::from_memory(numbers(4), numbers(4)).skip(2).enumerate();
  static_assert(std::same_as<decltype(data)::value_type, std::tuple<std::int64_t, int, int>>);
  CHECK(collect(data) == std::vector<std::tuple<std::int64_t, int, int>>{{0, 2, 2}, {1, 3, 3}});
  CHECK(collect(unnumbered(fg::from_memory(numbers(2))).enumerate()) ==
        std::vector<std::tuple<std::int64_t, int>>{{0, 0}, {1, 1}});
}

TEST_CASE("batch stacks numbers, arrays and tuples along an extent named batch") {
  const fg::ndarray<float, rows, 2> images{{1, 2}, {3, 4}, {5, 6}};
  const auto data = fg::from_memory(images, std::vector<std::int64_t>{7, 8, 9});
  const auto check = [](const auto& batches) {
    using batches_type = std::remove_cvref_t<decltype(batches)>;
    static_assert(std::same_as<typename batches_type::value_type,
                               std::tuple<fg::ndarray<float, batch, 2>, fg::ndarray<std::int64_t, batch>>>);
    const auto all = collect(batches);
    CHECK(all.size() == 2);
    CHECK(std::get<0>(all[0]) == fg::ndarray<float, batch, 2>{{1, 2}, {3, 4}});
    CHECK(std::get<1>(all[0]) == fg::ndarray<std::int64_t, batch>{7, 8});
    CHECK(std::get<0>(all[1]) == fg::ndarray<float, batch, 2>{{5, 6}});
    CHECK(std::get<1>(all[1]) == fg::ndarray<std::int64_t, batch>{9});
  };
  check(data.batch(2));
  check(unnumbered(data).batch(2));
  CHECK(data.batch(2).size() == 2);
  CHECK(data.batch(2, fg::last_batch::drop).size() == 1);
  CHECK(collect(data.batch(2, fg::last_batch::drop)).size() == 1);
  CHECK(collect(unnumbered(data).batch(2, fg::last_batch::drop)).size() == 1);
  CHECK(collect(data.batch(3, fg::last_batch::drop)).size() == 1);
  CHECK(collect(data.take(0).batch(2)).empty());

  static_assert(std::same_as<decltype(data.batch<rows>(2))::value_type,
                             std::tuple<fg::ndarray<float, rows, 2>, fg::ndarray<std::int64_t, rows>>>);
  const auto fixed = data.map([](auto image, auto) { return image; }).batch<2>();
  static_assert(std::same_as<decltype(fixed)::value_type, fg::ndarray<float, 2, 2>>);
  CHECK(collect(fixed) == std::vector{fg::ndarray<float, 2, 2>{{1, 2}, {3, 4}}});

  CHECK(collect(fg::from_memory(std::vector<std::string>{"a", "b", "c"}).batch(2)) ==
        std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}});
}

TEST_CASE("rows of different lengths do not become a batch") {
  const auto data =
      fg::from_memory(numbers(4)).map([](int n) { return fg::ndarray<float, time_extent, 2>(time_extent(n / 2 + 1)); });
  CHECK(collect(data.take(2).batch(2)).front().dims() == std::array<std::int64_t, 3>{2, 1, 2});
  CHECK(message([&] { (void)collect(data.batch(3)); }) ==
        "batch: expected rows of float[1, 2], as the first is, got float[2, 2] in row 2");
}

TEST_CASE("an element can be moved out of the for") {
  const auto data = fg::from_memory(numbers(3)).map([](int x) { return std::make_unique<int>(x); });
  int sum = 0;
  for (auto owned : data) sum += *owned;
  CHECK(sum == 3);
}
