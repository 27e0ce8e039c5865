// A session that is saved and restored goes on as if nothing had happened; a file of another model changes nothing.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/checkpoint/checkpoint.hpp>
#include <flowgraph/define.hpp>
#include <flowgraph/formats/safetensors.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

#include "scratch.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto build_classifier = [](fg::graph& g) {
  auto x = g.placeholder<float, batch, 8>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto w1 = g.variable<float, 8, 16>("w1", fg::init::glorot_uniform());
  auto b1 = g.variable<float, 16>("b1");
  auto w2 = g.variable<float, 16, 4>("w2", fg::init::he_normal());
  auto h = dropout(relu(matmul(x, w1) + b1), 0.3);
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(matmul(h, w2), y)));
  g.name("train", fg::adam(0.01).minimize(loss));
};
constexpr auto classifier = fg::define(build_classifier);

// Batches of 4 out of 24 rows, in another order in each epoch.
struct batches {
  static constexpr int rows = 24, size = 4;

  std::vector<float> x;
  std::vector<std::int64_t> y;

  explicit batches(int step) {
    std::mt19937 random(1);
    std::vector<float> all(rows * 8);
    for (float& v : all) v = static_cast<float>(random() % 1000) / 500 - 1;
    std::array<int, rows> order;
    for (int i = 0; i < rows; ++i) order[static_cast<std::size_t>(i)] = i;
    const int epoch = step * size / rows;
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(epoch)));
    for (int i = step * size % rows, n = 0; n < size; ++n, ++i) {
      const int row = order[static_cast<std::size_t>(i)];
      x.insert(x.end(), all.begin() + row * 8, all.begin() + row * 8 + 8);
      y.push_back(row % 4);
    }
  }
};

float train_step(fg::session<classifier>& s, int step) {
  const batches b(step);
  return s.run<"loss", "train">(fg::feed<"x">(b.x), fg::feed<"y">(b.y));
}
float train_step(fg::dynamic_session& s, int step) {
  const batches b(step);
  return s.run(s.find<float>("loss"), s.find_operation("train"), fg::feed("x", b.x), fg::feed("y", b.y));
}

// As bytes: everything that a session remembers.
template <class Session>
std::string state_of(Session& s) {
  const fg::testing::scratch_directory scratch;
  fg::save(s, scratch / "state");
  return fg::testing::file_content(scratch / "state");
}

// Trains without a stop and with one; make(seed) makes a session.
template <class Make>
void check_resume(const Make& make) {
  constexpr int stop = 13, end = 30;
  const fg::testing::scratch_directory scratch;
  auto whole = make(42u);
  std::vector<std::uint32_t> expected;
  for (int step = 0; step < end; ++step) {
    if (step == stop) fg::save(whole, scratch / "stopped", {}, {{"next step", std::to_string(step)}});
    expected.push_back(std::bit_cast<std::uint32_t>(train_step(whole, step)));
  }
  auto resumed = make(7u);
  train_step(resumed, 3);  // whatever it has done before
  const fg::file_metadata noted = fg::restore(resumed, scratch / "stopped");
  REQUIRE(noted == fg::file_metadata{{"next step", "13"}});
  for (int step = std::stoi(noted.at("next step")); step < end; ++step) {
    const float loss = train_step(resumed, step);
    CHECK(std::bit_cast<std::uint32_t>(loss) == expected[static_cast<std::size_t>(step)]);
  }
  CHECK(state_of(resumed) == state_of(whole));
}

}  // namespace

TEST_CASE("checkpoint: training goes on bit for bit, with dropout, adam and shuffled batches") {
  check_resume([](unsigned seed) { return fg::session<classifier>({.threads = 2, .seed = seed}); });
}

TEST_CASE("checkpoint: so does that of a graph built at run time, and files serve both") {
  fg::graph g;
  build_classifier(g);
  check_resume([&](unsigned seed) { return fg::dynamic_session(g, {.threads = 1, .seed = seed}); });

  const fg::testing::scratch_directory scratch;
  fg::session<classifier> compiled({.threads = 1, .seed = 5});
  fg::dynamic_session built(g, {.threads = 1, .seed = 6});
  train_step(compiled, 0);
  fg::save(compiled, scratch / "file");
  fg::restore(built, scratch / "file");
  CHECK(state_of(built) == state_of(compiled));
}

namespace {

constexpr auto small = fg::define([](fg::graph& g) {
  auto a = g.variable<float, 2, 3>("a", fg::init::ones());
  auto b = g.variable<std::int32_t, 4>("b", {}, fg::training::frozen);
  auto c = g.variable<double>("c", fg::init::ones());
  g.name("step", group(assign_add(a, 1), assign_add(b, 1), assign_add(c, 1)));
});
// a of another shape, b of another type, c missing, d beside them.
constexpr auto other = fg::define([](fg::graph& g) {
  g.variable<float, 3, 2>("a");
  g.variable<float, 4>("b");
  g.variable<float>("d");
});

}  // namespace

TEST_CASE("checkpoint: every mismatch is told at once, and the session stays as it was") {
  const fg::testing::scratch_directory scratch;
  fg::session<other> from;
  fg::save(from, scratch / "other");
  fg::session<small> s;
  s.run<"step">();
  const std::string before = state_of(s);
  try {
    fg::restore(s, scratch / "other");
    FAIL("no exception");
  } catch (const fg::checkpoint_error& e) {
    CHECK(e.mismatches() == std::vector<std::string>{
                                "\"a\": expected F32[2, 3], got F32[3, 2]",
                                "\"b\": expected I32[4], got F32[4]",
                                "\"c\": expected F64[], got none",
                                "\"d\": no variable is called so, got F32[]",
                            });
    CHECK(std::string(e.what()).find("\n  \"d\": no variable") != std::string::npos);
    CHECK(e.why() == fg::problem::checkpoint_mismatch);
  }
  CHECK(state_of(s) == before);

  // Shapes and types are never forgiven.
  try {
    fg::restore(s, scratch / "other", {.allow_missing = true, .allow_extra = true});
    FAIL("no exception");
  } catch (const fg::checkpoint_error& e) {
    CHECK(e.mismatches().size() == 2);
  }
  // A type that we have not is a mismatch as any other; a bad file is refused before anything is compared.
  fg::testing::put_content(scratch / "bad", "not a file of tensors");
  CHECK_THROWS_AS(fg::restore(s, scratch / "bad"), fg::file_error);
  CHECK_THROWS_AS(fg::restore(s, fg::testing::golden_path("other_types.safetensors")), fg::checkpoint_error);
  CHECK(state_of(s) == before);
}

TEST_CASE("checkpoint: data that turns out bad while it is read leaves the session as it was") {
  const fg::testing::scratch_directory scratch;
  fg::session<small> s;
  s.run<"step">();
  fg::save(s, scratch / "file", {}, {});
  const std::string good = fg::testing::file_content(scratch / "file"), before = state_of(s);
  for (const char* key : {"\"flowgraph.seed\":\"0\"", "\"flowgraph.steps\":\"1\""}) {
    std::string bad = good;
    const std::size_t at = bad.find(key);
    REQUIRE(at != std::string::npos);
    bad[at + std::string(key).size() - 2] = 'x';
    fg::testing::put_content(scratch / "bad", bad);
    CHECK_THROWS_AS(fg::restore(s, scratch / "bad"), fg::file_error);
  }
  CHECK(state_of(s) == before);
}

TEST_CASE("checkpoint: weights alone, names of another framework, missing and extra tensors") {
  const fg::testing::scratch_directory scratch;
  fg::session<small> s({.threads = 1, .seed = 9});
  s.run<"step">();
  const auto torch = [](std::string_view name) { return "model." + std::string(name) + ".weight"; };
  fg::save(s, scratch / "weights", {.name_in_file = torch, .trainable_only = true});
  // Without b, which is not trained.
  CHECK(fg::testing::file_content(scratch / "weights") ==
        fg::testing::file_content(fg::testing::golden_path("weights.safetensors")));
  fg::session<small> t({.threads = 1, .seed = 8});
  CHECK_THROWS_AS(fg::restore(t, scratch / "weights"), fg::checkpoint_error);
  CHECK_THROWS_AS(fg::restore(t, scratch / "weights", {.name_in_file = torch}), fg::checkpoint_error);
  fg::restore(t, scratch / "weights", {.name_in_file = torch, .trainable_only = true});
  CHECK(t.get<"a">()(1, 2) == 2.0f);
  CHECK(t.get<"c">() == 2.0);
  CHECK(t.get<"b">()(0) == 0);
  t.run<"step">();
  fg::restore(t, scratch / "weights", {.name_in_file = torch, .allow_missing = true});
  CHECK(t.get<"a">()(0, 0) == 2.0f);
  CHECK(t.get<"b">()(0) == 1);

  // Weights out of a whole checkpoint: what else the session has is not in excess there.
  fg::save(s, scratch / "all");
  fg::session<small> u;
  fg::restore(u, scratch / "all", {.trainable_only = true});
  CHECK(u.get<"a">()(0, 0) == 2.0f);
  CHECK(u.get<"b">()(0) == 0);

  const auto all_alike = [](std::string_view) { return std::string("same"); };
  CHECK_THROWS_AS(fg::save(s, scratch / "alike", {.name_in_file = all_alike}), fg::argument_error);
  CHECK_THROWS_AS(fg::restore(s, scratch / "all", {.name_in_file = all_alike, .allow_extra = true}),
                  fg::checkpoint_error);
  CHECK_THROWS_AS(fg::save(s, scratch / "own", {}, {{"flowgraph.seed", "1"}}), fg::argument_error);
}

namespace {

constexpr auto linear = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 3>("x");
  auto w = g.variable<float, 2, 3>("w", fg::init::glorot_uniform());  // [out, in], as PyTorch has it
  auto b = g.variable<float, 2>("b");
  auto y = g.name("y", matmul(x, transpose<1, 0>(w)) + b);
  g.name("train", fg::adam(0.1).minimize(reduce_sum(square(y))));
});

template <class T, auto... E>
fg::ndarray<T, E...> stored(fg::safetensors_file& file, const std::string& name) {
  fg::ndarray<T, E...> values;
  file.read(*file.find(name),
            std::as_writable_bytes(std::span(values.data(), static_cast<std::size_t>(values.size()))));
  return values;
}

}  // namespace

TEST_CASE("checkpoint: a layer of PyTorch's gives here what it gives there") {
  const auto path = fg::testing::golden_path("torch_linear.safetensors");
  fg::safetensors_file file(path);
  const auto x = stored<float, 4, 3>(file, "example.x");
  const auto y = stored<float, 4, 2>(file, "example.y");
  const auto torch = [](std::string_view name) -> std::string {
    return name == "w" ? "linear.weight" : name == "b" ? "linear.bias" : std::string(name);
  };
  fg::session<linear> s({.threads = 1});
  CHECK_THROWS_AS(fg::restore(s, path, {.name_in_file = torch, .trainable_only = true}), fg::checkpoint_error);
  const auto noted = fg::restore(s, path, {.name_in_file = torch, .trainable_only = true, .allow_extra = true});
  CHECK(noted == fg::file_metadata{{"format", "pt"}});
  const auto here = s.run<"y">(fg::feed<"x">(x));
  for (int i = 0; i < 8; ++i) CHECK(here.data()[i] == doctest::Approx(y.data()[i]).epsilon(1e-6));
}

namespace {

constexpr auto pair = fg::define([](fg::graph& g) {
  auto a = g.variable<float, 256>("a");
  auto b = g.variable<float, 256>("b");
  g.name("step", group(assign_add(a, 1), assign_add(b, 1)));
});

}  // namespace

TEST_CASE("checkpoint: a copy is one moment of the session while other threads run steps") {
  const fg::testing::scratch_directory scratch;
  fg::session<pair> s({.threads = 1}), t({.threads = 1});
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!done) s.run<"step">();
    });
  for (int i = 0; i < 20; ++i) {
    fg::save(s, scratch / "file");
    fg::restore(t, scratch / "file");
    const auto a = t.get<"a">(), b = t.get<"b">();
    for (int k = 0; k < 256; ++k) {
      REQUIRE(a(k) == a(0));
      REQUIRE(b(k) == a(0));
    }
    if (i % 5 == 4) fg::restore(s, scratch / "file");  // under running steps, too
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}
