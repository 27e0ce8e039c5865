// Saving and restoring by a step, in a constexpr model and in a graph built at run time.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/checkpoint/checkpoint.hpp>
#include <flowgraph/checkpoint/checkpoint_ops.hpp>
#include <flowgraph/define.hpp>
#include <flowgraph/formats/safetensors.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>

#include "scratch.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto regression = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 4>("x");
  auto w = g.variable<float, 4, 1>("w", fg::init::glorot_uniform());
  auto b = g.variable<float, 1>("b");
  auto loss = g.name("loss", reduce_mean(square(dropout(matmul(x, w) + b, 0.5) - 1.0f)));
  g.name("train", fg::adam(0.1).minimize(loss));
  g.name("save", fg::save_state(g, "state.safetensors"));
  g.name("restore", fg::restore_state(g, "state.safetensors"));
});

constexpr auto now_and_then = fg::define([](fg::graph& g) {
  auto w = g.variable<float>("w", fg::init::constant(1));
  auto often = g.placeholder<bool>("often");
  g.name("early", fg::save_state(g, "early.safetensors"));
  g.name("train", fg::gradient_descent(0.25).minimize(square(w - 3)));
  g.name("save", fg::cond(
                     often,
                     [&] {
                       auto after = g.control_dependencies(fg::save_state(g, "late.safetensors"));
                       return g.constant<int>(1);
                     },
                     [] { return 0; }));
});

// Paths of a constexpr model are written down before the program runs.
struct working_directory {
  working_directory() : before(std::filesystem::current_path()) { std::filesystem::current_path(scratch.path()); }
  ~working_directory() { std::filesystem::current_path(before); }

  fg::testing::scratch_directory scratch;
  std::filesystem::path before;
};

const std::vector<float> images{1, 2, 3, 4, -1, -2, -3, -4};

template <class Error, class Act>
std::string nested_message(const Act& act) {
  try {
    act();
  } catch (const fg::execution_error& e) {
    try {
      std::rethrow_if_nested(e);
    } catch (const Error& inner) {
      return inner.what();
    } catch (...) {
    }
  }
  return "no such error";
}

}  // namespace

TEST_CASE("save_state: a step saves what it has trained, and the file is a whole checkpoint") {
  const working_directory here;
  fg::session<regression> s({.threads = 2, .seed = 3});
  const auto step = [&](fg::session<regression>& in) { return in.run<"loss", "train">(fg::feed<"x">(images)); };
  step(s);
  s.run<"train", "save">(fg::feed<"x">(images));
  const auto w = s.get<"w">();
  const float next = step(s);

  fg::session<regression> t({.threads = 2, .seed = 4});
  fg::restore(t, "state.safetensors");
  for (int i = 0; i < 4; ++i) CHECK(t.get<"w">()(i, 0) == w(i, 0));
  CHECK(step(t) == next);  // the same dropout, the same moments of adam
}

TEST_CASE("save_state: what is written before minimize saves what was there, in a branch behind it what came of it") {
  const working_directory here;
  fg::session<now_and_then> s;
  CHECK(s.run<"train", "early", "save">(fg::feed<"often">(true)) == 1);
  const auto saved = [](const char* file) {
    fg::session<now_and_then> t;
    fg::restore(t, file);
    return t.get<"w">();
  };
  CHECK(saved("early.safetensors") == 1);
  CHECK(saved("late.safetensors") == 2);
}

TEST_CASE("restore_state: every variable gets its value back") {
  const working_directory here;
  fg::session<regression> s({.threads = 1, .seed = 3});
  s.run<"train", "save">(fg::feed<"x">(images));
  fg::save(s, "before");
  s.run<"train">(fg::feed<"x">(images));
  s.run<"restore">();
  // All but the count of steps.
  fg::safetensors_file before("before");
  fg::save(s, "after");
  fg::safetensors_file after("after");
  REQUIRE(before.tensors().size() == after.tensors().size());
  CHECK(before.tensors().size() >= 6);  // w, b and adam's
  for (const fg::stored_tensor& t : before.tensors()) {
    std::vector<std::byte> a(t.bytes()), b(t.bytes());
    before.read(t, a);
    after.read(*after.find(t.name), b);
    CHECK(a == b);
  }
}

TEST_CASE("restore_state: a file that does not fit changes nothing, and everything that differs is told") {
  const working_directory here;
  fg::session<regression> s({.threads = 1, .seed = 3});
  const auto w = s.get<"w">();
  const auto problem = [&] { return nested_message<fg::file_error>([&] { s.run<"restore">(); }); };
  CHECK(problem() == "state.safetensors: can't be opened: No such file or directory");

  const std::vector<float> ones(4, 1);
  const std::vector<fg::tensor_bytes> other{{"w", fg::dtype::float32, {4}, std::as_bytes(std::span(ones))},
                                            {"v", fg::dtype::float32, {4, 1}, std::as_bytes(std::span(ones))}};
  fg::write_safetensors("state.safetensors", other);
  const std::string told = problem();
  CHECK(told.find("\n  \"w\": expected F32[4, 1], got F32[4]") != std::string::npos);
  CHECK(told.find("\n  \"b\": expected F32[1], got none") != std::string::npos);
  CHECK(told.find("\n  \"v\": no variable is called so, got F32[4, 1]") != std::string::npos);
  CHECK(nested_message<fg::checkpoint_error>([&] { s.run<"restore">(); }) == told);

  // Data that turns out bad only when it is read.
  fg::testing::put_content("state.safetensors", "short");
  CHECK(problem().find("expected 8 bytes") != std::string::npos);
  for (int i = 0; i < 4; ++i) CHECK(s.get<"w">()(i, 0) == w(i, 0));
}

TEST_CASE("save_state and restore_state in a graph built at run time, with more variables than an op has operands") {
  const fg::testing::scratch_directory scratch;
  fg::graph g;
  std::vector<fg::variable<float, 2>> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(g.variable<float, 2>("v" + std::to_string(i), fg::init::constant(static_cast<double>(i))));
  g.variable<bool, 3>("truth");
  const std::string path = (scratch / "file").string();
  const auto save = fg::save_state(g, path), restore = fg::restore_state(g, path);

  fg::dynamic_session s(g, {.threads = 2});
  s.run(save);
  for (const auto& v : all) s.set(v, std::vector<float>{-1, -1});
  s.run(restore);
  for (int i = 0; i < 40; ++i) CHECK(s.get(all[static_cast<std::size_t>(i)])(1) == static_cast<float>(i));

  // A bad truth value is found when the last variable is read: none of them has changed by then.
  for (const auto& v : all) s.set(v, std::vector<float>{-1, -1});
  std::string bytes = fg::testing::file_content(path);
  bytes.back() = 2;
  fg::testing::put_content(path, bytes);
  CHECK(nested_message<fg::file_error>([&] { s.run(restore); }).find("expected 0 or 1, got 2") != std::string::npos);
  for (const auto& v : all) CHECK(s.get(v)(0) == -1);
}
