// What the page is given to draw. check_page.py looks at it in a browser.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/look.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 8>("x");
  auto scope = g.scope("layer");
  auto w = g.variable<float, 8, 4>("w");
  auto h = relu(matmul(x, w) + 1.0f);
  {
    auto odd = g.scope("<");
    g.name("script>", h);
  }
  g.name("y", reduce_sum(h));
  auto powers = fg::while_loop([](auto i, auto) { return i < 3; },
                               [](auto i, auto v) { return std::tuple(i + 1, v * 2.0f); }, g.constant(0), h);
  g.name("powers", std::get<1>(powers));
});

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a page stands alone: nothing is fetched, and no name of the user's ends a script") {
  const std::string page = fg::to_html(model);
  CHECK(page.find("<!DOCTYPE html>") == 0);
  CHECK(count(page, "</script>") == 2);
  CHECK(has(page, "layer/\\u003c/script>"));
  CHECK(count(page, "http") == count(page, "http://www.w3.org/2000/svg"));
  CHECK_FALSE(has(page, "src="));
  CHECK_FALSE(has(page, "@import"));
}

TEST_CASE("a page has nodes with scopes, shapes, devices and lines, and the plan's memory") {
  const std::string page = fg::to_html(model, {}, {.fetches = {"layer/y"}, .extents = {batch(32)}});
  CHECK(has(page, "{\"path\":\"layer/w\",\"op\":\"variable\",\"type\":\"float[8, 4]\",\"where\":\""));
  CHECK(has(page, "html.cpp:21\",\"device\":0,\"source\":true}"));
  CHECK(has(page, "\"type\":\"float[batch, 4]\""));
  CHECK(has(page, "\"together\":"));
  CHECK(has(page, "\"assumed\":\"\",\"instructions\":["));
  CHECK(has(page, "\"bytes\":512,\"from\":0,\"to\":"));  // 32 x 4 floats
  CHECK(has(page, "\"steps\":[]}"));
  CHECK(has(fg::to_html(model), "\"assumed\":\"batch = 1\""));
}

TEST_CASE("what stands in a loop is in the scope of the loop; its steps are shown") {
  fg::session<model> s({.threads = 1, .profile = 1});
  s.run<"layer/powers">(fg::feed<"x">(std::vector<float>(16)));
  const std::vector<fg::step_profile> steps = s.profile();
  const std::string page = fg::to_html(model, steps);
  CHECK(has(page, "/region1/less_"));
  CHECK(has(page, "/region2/mul_"));
  CHECK(has(page, "\"spans\":[{\"node\":"));
  for (const fg::instruction_profile& i : steps.front().instructions) {
    CHECK(i.begin >= 0);
    CHECK(i.begin <= i.end);
  }
  CHECK_THROWS_WITH_AS(fg::write_html("/no/such/directory/page.html", model),
                       "/no/such/directory/page.html: can't be written: No such file or directory", fg::file_error);
}
