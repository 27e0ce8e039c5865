// Files of variables that sessions share, and of those whose graphs come and go.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/checkpoint/checkpoint.hpp>
#include <flowgraph/define.hpp>
#include <flowgraph/formats/safetensors.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>
#include <flowgraph/train/fit.hpp>

#include "scratch.hpp"

namespace fg = flowgraph;

namespace {

// w and b of a model, and of graphs that are made for an input of `terms` numbers.
constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 3>("x");
  g.name("y", reduce_sum(x * g.variable<float, 3>("w", fg::init::normal(0, 1))) + g.variable<float>("b"));
});

float learn(fg::dynamic_session& s, int terms) {
  fg::graph g;
  auto w = g.variable<float, 3>("w", fg::init::normal(0, 1));
  auto b = g.variable<float>("b");
  auto y = b + 0.0f;
  for (int i = 0; i < terms; ++i) y = y + tanh(reduce_sum(w) * static_cast<float>(i + 1));
  auto loss = square(y - 1.0f);
  return s.run(loss, fg::adam(0.05).minimize(loss));
}

}  // namespace

TEST_CASE("checkpoint: a session without a graph is saved whole, and goes on before any graph has said what there is") {
  const fg::testing::scratch_directory directory;
  const std::string path = (directory / "state.safetensors").string();
  fg::dynamic_session a({.threads = 1, .seed = 5});
  for (int i = 0; i < 7; ++i) learn(a, 1 + i % 3);
  fg::save(a, path, {}, {{"epoch", "1"}});

  fg::dynamic_session b({.threads = 1, .seed = 6});
  CHECK(fg::restore(b, path).at("epoch") == "1");
  fg::dynamic_session used({.threads = 1, .seed = 6});
  learn(used, 2);
  fg::restore(used, path);
  for (int i = 0; i < 7; ++i) {
    const float expected = learn(a, 1 + i % 4);
    CHECK(learn(b, 1 + i % 4) == expected);
    CHECK(learn(used, 1 + i % 4) == expected);
  }
}

TEST_CASE("checkpoint: sessions that share variables save those that their graphs declare") {
  const fg::testing::scratch_directory directory;
  const std::string path = (directory / "model.safetensors").string();
  const auto shared = std::make_shared<fg::variables>();
  fg::dynamic_session trains({.threads = 1, .seed = 5, .variables = shared});
  learn(trains, 2);
  fg::session<model> serves({.threads = 1, .variables = shared});
  fg::save(serves, path);
  const fg::safetensors_file file(path);
  CHECK(file.tensors().size() == 2);  // not adam's state

  const float before = serves.run<"y">(fg::feed<"x">(std::array{1.0f, 2.0f, 3.0f}));
  learn(trains, 2);
  CHECK(serves.run<"y">(fg::feed<"x">(std::array{1.0f, 2.0f, 3.0f})) != before);
  fg::restore(serves, path);
  CHECK(serves.run<"y">(fg::feed<"x">(std::array{1.0f, 2.0f, 3.0f})) == before);
  CHECK(shared->get<std::int64_t>("adam/steps")() == 2);
}

TEST_CASE("checkpoint: a file that does not fit the variables that are there changes nothing and brings nothing") {
  const fg::testing::scratch_directory directory;
  const std::string path = (directory / "other.safetensors").string();
  {
    fg::graph g;
    auto w = g.variable<float, 2>("w");
    auto extra = g.variable<float>("extra");
    fg::dynamic_session s(g, {.threads = 1});
    s.run(w, extra);
    fg::save(s, path);
  }
  const auto shared = std::make_shared<fg::variables>();
  fg::dynamic_session s({.threads = 1, .seed = 5, .variables = shared});
  learn(s, 1);
  const std::vector<std::string> names = shared->names();
  const float w = shared->get<float, 3>("w")(0);
  CHECK_THROWS_AS(fg::restore(s, path), fg::checkpoint_error);
  CHECK(shared->names() == names);
  CHECK(shared->get<float, 3>("w")(0) == w);

  // What a file brings is held to by the graphs that come.
  fg::dynamic_session empty({.threads = 1});
  fg::restore(empty, path);
  CHECK_THROWS_AS(learn(empty, 1), fg::graph_error);
}

TEST_CASE("fit: a graph for each row, with the best state kept") {
  const fg::testing::scratch_directory directory;
  fg::dynamic_session s({.threads = 1, .seed = 5});
  const std::vector<std::int64_t> terms{1, 2, 3, 1, 2, 3};
  const std::string best = (directory / "best.safetensors").string();
  const auto step = [&](std::int64_t n) { return learn(s, static_cast<int>(n)); };
  const auto done =
      fg::fit(s, fg::each(terms, step, {"loss"}), {.epochs = 4, .best = best, .progress = fg::progress::silent});
  CHECK(done.epochs.size() == 4);
  CHECK(done.best_value < done.epochs[0].training[0].value);
  CHECK(fg::safetensors_file(best).tensors().size() == 7);  // w, b, two of adam's for each, and its steps
}
