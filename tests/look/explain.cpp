// What passes say of themselves.
#include <string>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/look/explain.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 64, 10>("w");
  auto scale = g.constant(2.0f) * g.constant(3.0f);
  auto h = matmul(x, w) * scale;
  auto same = g.name("same", pow(h, 2.0f) + pow(h, 2.0f));
  g.name("y", reduce_sum(relu(same) * 1.0f));
  g.name("other", exp(x));
});

constexpr auto spread = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, 4>("x");
  auto there = g.device("/cpu:1");
  g.name("y", exp(x));
});

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("explain names what each pass changed, with the user's lines, and the memory that was saved") {
  const std::string text = fg::explain(model, {.fetches = {"y"}, .extents = {batch(32)}});
  CAPTURE(text);
  CHECK(has(text, "model         17 nodes   640 parameters, 2560 bytes of state\n"));
  CHECK(has(text, "prune         16 nodes   not needed: 1\n"));
  CHECK(has(text, "\"other\" ("));
  CHECK(has(text, "became constants: 1\n"));
  CHECK(has(text, "explain.cpp:18) = 6\n"));
  CHECK(has(text, "have a cheaper form: 3\n"));
  CHECK(has(text, "explain.cpp:20) became square\n"));
  CHECK(has(text, "compute what another one does: 4\n"));
  CHECK(has(text, "on /cpu:0\n"));
  CHECK(has(text, "groups that run as one instruction: 1\n"));
  CHECK(has(text, "mul+square+add+relu+reduce_sum at \"y\" ("));
  CHECK(has(text,
            "memory    6404 bytes if each value had its own, 1284 bytes in 2 values after fusing, "));  // 5 of 32 x 10
  CHECK_FALSE(has(text, "batch = 1"));
  CHECK(has(fg::explain(model), ", with batch = 1\n"));
}

TEST_CASE("explain says why there is no plan, and refuses names that are not there") {
  const std::string text = fg::explain(model, {.fetches = {"y"}, .feeds = {"same", "x"}});
  CHECK(has(text, "no plan: run: no fetch needs this feed: \"x\" ("));
  CHECK_THROWS_AS(fg::explain(model, {.fetches = {"z"}}), fg::name_error);
}

TEST_CASE("explain of several devices counts what is sent") {
  fg::graph g;
  auto x = g.placeholder<float, 4>("x");
  auto h = [&] {
    auto there = g.device("/cpu:1");
    return exp(x);
  }();
  g.name("y", h + 1.0f);
  const std::string text = fg::explain(g, {.devices = {"/cpu:0", "/cpu:1"}});
  CAPTURE(text);
  CHECK(has(text, "on /cpu:0, 2 on /cpu:1\n"));
  CHECK(has(text, "values that go to another device: 1, 16 bytes\n"));
}

TEST_CASE("explain of a model on several devices knows them") {
  const std::string text = fg::explain(fg::on_devices<spread, "/cpu:0", "/cpu:1">);
  CAPTURE(text);
  CHECK(has(text, "1 on /cpu:0, 1 on /cpu:1\n"));
  CHECK(has(text, "values that go to another device: 1, 16 bytes\n"));
  CHECK(has(fg::explain(spread), "no plan: the graph asks for a device that this session does not have: \"y\""));
}
