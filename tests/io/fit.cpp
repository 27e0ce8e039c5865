// Training in one call: the same numbers as the loop by hand, when it ends, what it keeps, and what it shows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <regex>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/data/csv.hpp>
#include <flowgraph/data/from_memory.hpp>
#include <flowgraph/define.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>
#include <flowgraph/train/fit.hpp>
#include <flowgraph/train/progress.hpp>

#include "scratch.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto digits = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto logits = fg::layers::dense<10>(relu(fg::layers::dense<32>(x / 16.0f, "hidden")), "out");
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adam(0.01).minimize(loss));
  auto accuracy = fg::metrics::accuracy(logits, y, "accuracy");
  g.name("update", accuracy.update);
  g.name("reset", accuracy.reset);
  g.name("correct", accuracy.value);
});

// Every fifth image is held out.
auto images(bool held_out) {
  const auto path = std::filesystem::path(fg::testing::test_file("../examples/data/digits.csv"));
  return fg::csv<fg::ndarray<float, 64>, std::int64_t>(path)
      .enumerate()
      .filter([held_out](std::int64_t i, const auto&, std::int64_t) { return (i % 5 == 4) == held_out; })
      .map([](std::int64_t, const auto& x, std::int64_t y) { return std::tuple(x, y); });
}

double value_of(const std::vector<fg::fit_value>& all, const std::string& name) {
  for (const fg::fit_value& v : all)
    if (v.name == name) return v.value;
  FAIL("no value " << name);
  return 0;
}

// A file that is read back.
class captured {
 public:
  std::FILE* file() const { return file_.get(); }
  std::string text() const {
    std::string all(static_cast<std::size_t>(std::ftell(file())), '\0');
    std::rewind(file());
    return std::fread(all.data(), 1, all.size(), file()) == all.size() ? all : "";
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), &std::fclose};
};

}  // namespace

TEST_CASE("fit: digits are learned, by the numbers of a loop by hand") {
  const fg::testing::scratch_directory scratch;
  const auto training = images(false).shuffle(1).batch(32);
  const auto held_out = images(true).batch(128);
  fg::session<digits> s({.threads = 1, .seed = 42}), by_hand({.threads = 1, .seed = 42});
  const auto validation = fg::each<"loss", "update">(held_out, fg::into<"x", "y">).first<"reset">().last<"correct">();
  const fg::fit_history h =
      fg::fit(s, fg::each<"loss", "train">(training, fg::into<"x", "y">), validation,
              {.epochs = 6, .best = scratch / "best", .restore_best = true, .progress = fg::progress::silent});
  REQUIRE(h.epochs.size() == 6);
  double best = std::numeric_limits<double>::infinity(), correct = 0;
  for (int epoch = 0; epoch < 6; ++epoch) {
    CAPTURE(epoch);
    const auto mean_over = [&](const auto& batches, const auto& step) {
      double sum = 0, rows = 0;
      for (auto&& [x, y] : batches) {
        sum += static_cast<double>(x.dim(0)) * static_cast<double>(step(x, y));
        rows += static_cast<double>(x.dim(0));
      }
      return sum / rows;
    };
    const double loss = mean_over(training.epoch(static_cast<std::uint64_t>(epoch)), [&](const auto& x, const auto& y) {
      return by_hand.run<"loss", "train">(fg::feed<"x">(x), fg::feed<"y">(y));
    });
    by_hand.run<"reset">();
    const double held = mean_over(held_out, [&](const auto& x, const auto& y) {
      return by_hand.run<"loss", "update">(fg::feed<"x">(x), fg::feed<"y">(y));
    });
    const fg::fit_epoch& e = h.epochs[static_cast<std::size_t>(epoch)];
    CHECK(value_of(e.training, "loss") == loss);
    CHECK(value_of(e.validation, "loss") == held);
    correct = static_cast<double>(by_hand.run<"correct">());
    CHECK(value_of(e.validation, "correct") == correct);
    CHECK(e.best == (held < best));
    best = std::min(best, held);
  }
  CHECK(correct > 0.93);
  CHECK(h.best_value == best);
  CHECK(value_of(h.epochs[static_cast<std::size_t>(h.best_epoch)].validation, "loss") == best);

  // The session is that of the best epoch, and so is the file.
  const auto again = [&](fg::session<digits>& of) {
    return fg::fit(of, validation, {.progress = fg::progress::silent}).best_value;
  };
  CHECK(again(s) == best);
  fg::session<digits> fresh({.threads = 1});
  CHECK(fg::restore(fresh, scratch / "best").at("epoch") == std::to_string(h.best_epoch + 1));
  CHECK(again(fresh) == best);
}

namespace {

constexpr auto counter = fg::define([](fg::graph& g) {
  auto n = g.variable<std::int64_t>("n");
  g.name("step", assign_add(n, 1));
});

// A training whose value in each epoch is given.
struct script {
  std::vector<double> values;
  fg::session<counter> s{{.threads = 1}};
  int done = 0;

  fg::fit_history run(fg::fit_options o) {
    o.progress = fg::progress::silent;
    if (o.epochs == 1) o.epochs = static_cast<int>(values.size());
    const auto step = [this](int) {
      s.run<"step">();
      return values[static_cast<std::size_t>(done++)];
    };
    return fg::fit(s, fg::each(std::vector<int>{0}, step, {"loss"}), o);
  }
};

}  // namespace

TEST_CASE("fit: when it ends, and what the best is") {
  const double nan = std::nan("");
  const auto run = [](std::vector<double> values, const fg::fit_options& o) {
    return script{std::move(values)}.run(o);
  };

  CHECK(run({3, 2, 1, 2, 3}, {}).best_epoch == 2);
  CHECK(run({3, 2, 1, 2, 3}, {}).epochs.size() == 5);
  CHECK(run({3, 2, 1, 2, 3}, {.better = fg::better::higher}).best_epoch == 0);
  CHECK(run({nan, 2, nan}, {}).best_epoch == 1);
  CHECK(run({nan, nan}, {}).best_epoch == -1);
  CHECK(std::isnan(run({nan, nan}, {}).best_value));
  CHECK(std::isnan(run({nan, nan}, {.better = fg::better::higher}).best_value));
  CHECK(std::isnan(fg::fit_history().best_value));
  CHECK(run({nan, 2, nan}, {}).best_value == 2);

  const auto patient = run({3, 2, 2, 2.5, 1}, {.patience = 2});
  CHECK(patient.epochs.size() == 4);
  CHECK(patient.stopped_early);
  CHECK(patient.best_epoch == 1);
  CHECK(run({nan, nan, nan, nan}, {.patience = 3}).epochs.size() == 3);
  CHECK(run({3, 2.95, 2.9, 2.85}, {.patience = 2, .min_delta = 0.5}).epochs.size() == 3);
  CHECK(!run({3, 2, 1}, {.patience = 2}).stopped_early);

  int asked = 0;
  const auto until = run({5, 4, 3, 2}, {.after_epoch = [&](const fg::fit_epoch& e) {
                           ++asked;
                           return e.training.at(0).value > 4;
                         }});
  CHECK(asked == 2);
  CHECK(until.epochs.size() == 2);
  CHECK(until.stopped_early);

  // An interrupted training goes on with the epochs that are left.
  script rest{{9, 9, 9}};
  const auto resumed = rest.run({.epochs = 5, .first_epoch = 2});
  CHECK(resumed.epochs.size() == 3);
  CHECK(resumed.epochs.front().epoch == 2);
  const auto done = rest.run({.epochs = 5, .first_epoch = 5});
  CHECK(done.epochs.empty());
  CHECK(done.best_epoch == -1);
  CHECK(std::isnan(done.best_value));
}

TEST_CASE("fit: the best epoch is what stays") {
  const fg::testing::scratch_directory scratch;
  script t{{3, 1, 2, 4}};
  t.run({.best = scratch / "best", .restore_best = true});
  CHECK(t.done == 4);
  CHECK(t.s.get<"n">() == 2);
  script kept{{3, 1, 2, 4}};
  kept.run({.best = scratch / "best"});
  CHECK(kept.s.get<"n">() == 4);
}

TEST_CASE("fit: without a best epoch there is none to restore, not even one of a training before") {
  const fg::testing::scratch_directory scratch;
  const fg::fit_options o{.best = scratch / "best", .restore_best = true};
  script{{3, 1}}.run(o);
  const double nan = std::nan("");
  script t{{nan, nan, nan}};
  CHECK_THROWS_WITH_AS(t.run(o), "fit: there is no best epoch to restore: \"loss\" was a number in none of 3 epochs",
                       fg::argument_error);
  CHECK(t.s.get<"n">() == 3);
  script finished{{1}};
  CHECK_THROWS_AS(finished.run({.epochs = 2, .first_epoch = 2, .best = scratch / "best", .restore_best = true}),
                  fg::argument_error);
  CHECK(finished.s.get<"n">() == 0);
}

TEST_CASE("fit: means count rows, and a graph built at run time is trained by a function") {
  fg::graph g;
  auto x = g.placeholder<float, batch>("x");
  auto w = g.variable<float>("w");
  auto mean = reduce_mean(x);
  auto train = assign_add(w, mean);
  fg::dynamic_session s(g, {.threads = 1});
  const std::vector<float> rows{1, 2, 3, 4, 10};
  const auto step = [&](const auto& values) { return std::tuple(s.run(mean, train, fg::feed(x, values)), 1); };
  const auto h = fg::fit(s, fg::each(fg::from_memory(rows).batch(2), step, {"mean", "one"}),
                         {.epochs = 2, .progress = fg::progress::silent});
  CHECK(value_of(h.epochs[1].training, "mean") == 4);  // 1.5 and 3.5 twice, 10 once
  CHECK(value_of(h.epochs[1].training, "one") == 1);
  CHECK(s.get(w) == 30);
}

TEST_CASE("fit: what makes no sense is refused before anything runs") {
  const auto refused = [](fg::fit_options o) {
    script t{{1, 2}};
    CHECK_THROWS_AS(t.run(std::move(o)), fg::argument_error);
    CHECK(t.done == 0);
  };
  refused({.epochs = -1});
  refused({.first_epoch = -1});
  refused({.epochs = 2, .first_epoch = 5});
  refused({.patience = -1});
  refused({.monitor = "accuracy"});
  refused({.restore_best = true});
  fg::session<counter> s({.threads = 1});
  const auto two = [](int) { return std::tuple(1.0, 2.0); };
  CHECK_THROWS_AS(fg::fit(s, fg::each(std::vector<int>{0}, two, {"one"}), {.progress = fg::progress::silent}),
                  fg::argument_error);
  // Nothing to compare by.
  const auto nothing = fg::each(std::vector<int>{0}, [](int) {}, {});
  CHECK_THROWS_AS(fg::fit(s, nothing, {.patience = 1, .progress = fg::progress::silent}), fg::argument_error);
  CHECK(fg::fit(s, nothing, {.epochs = 3, .progress = fg::progress::silent}).epochs.size() == 3);
}

TEST_CASE("fit: without a row there is nothing to learn from") {
  fg::session<counter> s({.threads = 1});
  const auto one = [](int) { return 1.0; };
  const auto some = fg::each(std::vector<int>{0}, one, {"one"}), none = fg::each(std::vector<int>{}, one, {"one"});
  const fg::fit_options quiet{.progress = fg::progress::silent};
  const char* const text = "fit: expected at least 1 row an epoch, got 0";
  CHECK_THROWS_WITH_AS(fg::fit(s, none, quiet), text, fg::argument_error);
  CHECK_THROWS_WITH_AS(fg::fit(s, some, none, quiet), text, fg::argument_error);
}

TEST_CASE("fit: a batch without rows is refused before the step that would learn from it") {
  fg::session<counter> s({.threads = 1});
  int steps = 0;
  const std::vector<std::vector<float>> batches{{1, 2}, {}};
  const auto all = fg::each(batches, [&](const auto&) { return ++steps, 1.0; }, {"one"});
  CHECK_THROWS_WITH_AS(fg::fit(s, all, {.progress = fg::progress::silent}),
                       doctest::Contains("fit: expected at least 1 row in each batch, got an empty one"),
                       fg::argument_error);
  CHECK(steps == 1);
}

TEST_CASE("fit: a bar on a terminal, lines elsewhere, nothing where nothing is wanted") {
  const auto show = [](fg::progress how) {
    const captured out;
    fg::session<counter> s({.threads = 1});
    const auto step = [](double x) { return x; };
    const auto stage = fg::each(std::vector<double>{1, 2}, step, {"loss"});
    fg::fit(s, stage, stage, {.epochs = 2, .progress = how, .output = out.file()});
    return out.text();
  };
  CHECK(show(fg::progress::silent).empty());

  const std::string line = R"(epoch \d/2: \d+\.\d s, \d+ rows/s, loss 1\.5, validation loss 1\.5)";
  const std::regex lines(line + ", best\n" + line + "\n");
  CHECK(std::regex_match(show(fg::progress::lines), lines));
  CHECK(std::regex_match(show(fg::progress::automatic), lines));  // no terminal

  const std::string bar = show(fg::progress::bar);
  CHECK(bar.starts_with("\r\033[Kepoch 1/2 [============            ] 1/2  "));
  CHECK(std::regex_search(bar, std::regex(R"(\d+ rows/s  0:00 left  loss 1)")));
  CHECK(std::regex_search(bar, std::regex("\r\033\\[K" + line + ", best\n")));
  CHECK(bar.ends_with("validation loss 1.5\n"));
  CHECK(fg::detail::clock_text(7.4) == "0:07");
  CHECK(fg::detail::clock_text(3723) == "1:02:03");
}
