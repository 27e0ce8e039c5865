// A directory of checkpoints: what stays, what is found, what goes wrong in the background, and a process that is
// killed while it saves.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/checkpoint/checkpoint.hpp>
#include <flowgraph/checkpoint/checkpoint_series.hpp>
#include <flowgraph/define.hpp>
#include <flowgraph/formats/durable_file.hpp>
#include <flowgraph/session/session.hpp>

#include "scratch.hpp"

namespace fg = flowgraph;

namespace {

constexpr auto counter = fg::define([](fg::graph& g) {
  auto a = g.variable<float, 32, 1024>("a");
  auto n = g.variable<std::int64_t>("n");
  g.name("step", group(assign_add(a, 1), assign_add(n, 1)));
});

std::vector<std::uint64_t> steps_of(const fg::checkpoint_series& series) {
  std::vector<std::uint64_t> steps;
  for (const fg::series_entry& e : series.entries()) steps.push_back(e.step);
  return steps;
}

using steps = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("checkpoint_series: the last and the best stay") {
  const fg::testing::scratch_directory scratch;
  fg::session<counter> s({.threads = 1});
  fg::checkpoint_series series(scratch / "run", {.keep_last = 2, .keep_best = 1});
  CHECK(!series.latest());
  CHECK(!series.best());
  const double losses[] = {5, 1, 3, 4, NAN};
  for (std::uint64_t i = 0; i < 5; ++i) {
    s.run<"step">();
    series.save(s, i * 10, {.metric = losses[i], .metadata = {{"epoch", std::to_string(i)}}});
  }
  CHECK(steps_of(series) == steps{10, 30, 40});
  CHECK(series.latest()->step == 40);
  CHECK(series.best()->step == 10);
  CHECK(*series.best()->metric == 1);
  CHECK(fg::restore(s, series.best()->path) == fg::file_metadata{{"epoch", "1"}});
  CHECK(s.get<"n">() == 2);

  // Another object, as after a restart, knows as much.
  fg::checkpoint_series again(scratch / "run", {.keep_last = 1, .keep_best = 1, .better = fg::better::higher});
  CHECK(again.latest()->step == 40);
  CHECK(again.best()->step == 30);
  again.save(s, 50);
  CHECK(steps_of(again) == steps{30, 50});

  // Who goes on from an earlier step keeps what it saves; the line that was left goes.
  fg::checkpoint_series back(scratch / "back", {.keep_last = 2});
  for (const std::uint64_t step : steps{100, 200, 300}) back.save(s, step);
  back.save(s, 110);
  CHECK(back.latest()->step == 110);
  CHECK(steps_of(back) == steps{300, 110});
  fg::checkpoint_series resumed(scratch / "back", {.keep_last = 2});
  CHECK(resumed.latest()->step == 110);
  resumed.save(s, 120);
  CHECK(steps_of(resumed) == steps{110, 120});

  // Of equals the best is the one that was saved last, whatever its step.
  fg::checkpoint_series equals(scratch / "equals", {.keep_last = 1, .keep_best = 1, .better = fg::better::higher});
  for (const std::uint64_t step : steps{10, 20, 30, 15, 16}) equals.save(s, step, {.metric = 0.5});
  CHECK(equals.best()->step == 16);
  CHECK(steps_of(equals) == steps{16});

  fg::checkpoint_series all(scratch / "all", {.keep_last = 0});
  for (std::uint64_t i = 0; i < 7; ++i) all.save(s, i);
  CHECK(steps_of(all).size() == 7);
}

TEST_CASE("checkpoint_series: temporaries and rubbish are neither found nor, if somebody else's, removed") {
  const fg::testing::scratch_directory scratch;
  fg::session<counter> s({.threads = 1});
  fg::checkpoint_series series(scratch / "run", {.keep_last = 1});
  series.save(s, 5);
  const std::string good = fg::testing::file_content(series.latest()->path);
  fg::testing::put_content(scratch / "run/checkpoint-000000000009.safetensors", good.substr(0, good.size() - 1));
  fg::testing::put_content(scratch / "run/checkpoint-000000000008.safetensors", "");
  fg::testing::put_content(scratch / "run/checkpoint-7.safetensors", good);
  fg::testing::put_content(scratch / "run/checkpoint-x.safetensors", good);
  fg::testing::put_content(scratch / "run/notes.txt", "mine");
  fg::testing::put_content(scratch / "run/checkpoint-000000000010.safetensors.123.0.tmp", good);
  std::filesystem::create_directory(scratch / "run/checkpoint-000000000011.safetensors");
  const std::string others[] = {"checkpoint-.tmp", "checkpoint-notes.tmp", "checkpoint-notes.1.2.tmp",
                                "checkpoint-000000000001.safetensors.old.tmp"};
  for (const std::string& name : others) fg::testing::put_content(scratch / ("run/" + name), "mine");
  CHECK(series.latest()->step == 5);
  CHECK(steps_of(series) == steps{5});
  series.save(s, 6);
  CHECK(steps_of(series) == steps{6});
  CHECK(std::filesystem::exists(scratch / "run/notes.txt"));
  for (const std::string& name : others) CHECK(std::filesystem::exists(scratch / ("run/" + name)));
  CHECK(std::filesystem::exists(scratch / "run/checkpoint-7.safetensors"));
  CHECK(!std::filesystem::exists(scratch / "run/checkpoint-000000000010.safetensors.123.0.tmp"));

  fg::testing::put_content(scratch / "file", "");
  CHECK_THROWS_AS(fg::checkpoint_series(scratch / "file"), fg::file_error);
}

TEST_CASE("checkpoint_series: what is saved in the background is the moment of the call") {
  const fg::testing::scratch_directory scratch;
  fg::session<counter> s({.threads = 1}), t({.threads = 1});
  fg::checkpoint_series series(scratch / "run", {.keep_last = 0});
  for (std::uint64_t i = 1; i <= 8; ++i) {
    s.run<"step">();
    series.save_async(s, i);
  }
  series.wait();
  for (const fg::series_entry& e : series.entries()) {
    fg::restore(t, e.path);
    CHECK(static_cast<std::uint64_t>(t.get<"n">()) == e.step);
  }
  CHECK(steps_of(series).size() == 8);

  // What goes wrong there is thrown once, by the next call.
  std::filesystem::remove_all(scratch / "run");
  series.save_async(s, 9);
  CHECK_THROWS_AS(series.wait(), fg::file_error);
  series.wait();
  CHECK_THROWS_AS(series.save(s, 10), fg::file_error);
  std::filesystem::create_directory(scratch / "run");
  series.save(s, 11);
  CHECK(series.latest()->step == 11);

  // An object that ends has written everything.
  { fg::checkpoint_series(scratch / "run", {.keep_last = 0}).save_async(s, 12); }
  CHECK(series.latest()->step == 12);
}

TEST_CASE("checkpoint_series: steps run while a file is being written") {
  const fg::testing::scratch_directory scratch;
  fg::session<counter> s({.threads = 1}), t({.threads = 1});
  fg::checkpoint_series series(scratch / "run", {.keep_last = 0});
  // Where the file will be written stands a pipe: whoever opens it waits for a reader, as if for a slow disk.
  const std::filesystem::path pipe = scratch / "run/checkpoint-000000000001.safetensors";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);

  std::atomic<bool> went_on{false};
  bool in_time = false;
  std::string written;
  std::thread reader([&] {
    for (int i = 0; i < 2000 && !went_on; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    in_time = went_on;
    written = fg::testing::file_content(pipe);
  });
  s.run<"step">();
  series.save_async(s, 1);
  s.run<"step">();
  went_on = true;
  series.wait();
  reader.join();
  CHECK(in_time);
  CHECK(s.get<"n">() == 2);
  fg::testing::put_content(scratch / "copy", written);
  fg::restore(t, scratch / "copy");
  CHECK(t.get<"n">() == 1);
}

namespace {

// What the process does that is killed: goes on from the last checkpoint, and saves after every step.
[[noreturn]] void save_for_ever(const std::filesystem::path& directory) {
  try {
    fg::session<counter> s({.threads = 1});
    fg::checkpoint_series series(directory, {.keep_last = 2});
    fg::restore(s, series.latest()->path);
    for (;;) {
      s.run<"step">();
      series.save_async(s, static_cast<std::uint64_t>(s.get<"n">()));
    }
  } catch (...) {
    ::_exit(1);
  }
}

}  // namespace

TEST_CASE("checkpoint_series: killed at 200 moments, there is always a checkpoint, and it is whole") {
  using clock = std::chrono::steady_clock;
  const fg::testing::scratch_directory scratch;
  fg::session<counter> s({.threads = 1});
  const fg::checkpoint_series series(scratch / "run", {.keep_last = 2});
  const auto begin = clock::now();
  { fg::checkpoint_series(scratch / "run").save(s, 0); }
  // Moments that lie within the first few saves, however slow the disk and the sanitizer are.
  const auto within = std::chrono::microseconds(5000) + 4 * (clock::now() - begin);
  std::mt19937 random(17);
  std::uniform_real_distribution<double> part(0, 1);
  int kills = 0, unfinished = 0;
  std::uint64_t last = 0;
  for (; kills < 200 && (kills < 20 || clock::now() - begin < std::chrono::seconds(20)); ++kills) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) save_for_ever(scratch / "run");
    std::this_thread::sleep_for(part(random) * within);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));  // it did not end by itself

    for (const auto& file : std::filesystem::directory_iterator(scratch / "run"))
      unfinished += file.path().extension() == ".tmp";
    const std::optional<fg::series_entry> latest = series.latest();
    REQUIRE(latest);
    CHECK(latest->step >= last);  // nothing that was safe is lost
    last = latest->step;
    fg::restore(s, latest->path);
    const auto a = s.get<"a">();
    CHECK(static_cast<std::uint64_t>(s.get<"n">()) == last);
    for (int k = 0; k < 1024; ++k) REQUIRE(a(31, k) == static_cast<float>(last));
  }
  CHECK(last > 0);
  MESSAGE(kills << " times killed, " << last << " times saved, " << unfinished << " unfinished files seen");
}
