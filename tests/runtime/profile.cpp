// What a session says of its last steps.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 64, 64>("w", fg::init::ones());
  auto h = g.name("h", matmul(x, w));
  g.name("y", reduce_sum(tanh(h) * 2.0f));
});

}  // namespace

TEST_CASE("the last steps are kept, each instruction with its times, bytes, line and provider") {
  const std::vector<float> x(32 * 64, 0.5f);
  for (const auto inter_op : {fg::inter_op_policy::serial, fg::inter_op_policy::parallel}) {
    fg::session<model> s({.threads = 2, .kernels = fg::kernels::eigen, .inter_op = inter_op, .profile = 3});
    for (int i = 0; i < 5; ++i) s.run<"y">(fg::feed<"x">(x));
    const std::vector<fg::step_profile> steps = s.profile();
    REQUIRE(steps.size() == 3);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      CHECK(steps[k].step == k + 2);
      const fg::instruction_profile* product = nullptr;
      for (const fg::instruction_profile& i : steps[k].instructions) {
        CHECK(i.begin >= 0);
        CHECK(i.begin <= i.end);
        CHECK(i.end <= steps[k].nanoseconds);
        CHECK(i.thread >= 0);
        CHECK(i.thread < 2);
        CHECK(i.provider == "flowgraph");
        if (i.node == "\"h\"") product = &i;
      }
      REQUIRE(product != nullptr);
      CHECK(product->op == "matmul");
      CHECK(product->where.find("profile.cpp:19") != std::string::npos);
      CHECK(product->bytes == 4 * (32 * 64 + 64 * 64 + 32 * 64));
    }
    const std::string table = to_text(steps);
    CHECK(table.find("3 steps, ") == 0);
    CHECK(table.find("\"h\" = matmul (flowgraph, ") != std::string::npos);
    CHECK(to_text(steps, 1).find(" more\n") != std::string::npos);
  }
}

TEST_CASE("nothing is kept unless it is asked for") {
  fg::session<model> s({.threads = 1});
  s.run<"y">(fg::feed<"x">(std::vector<float>(64, 1.0f)));
  CHECK(s.profile().empty());
  CHECK(to_text(s.profile()) == to_text(std::vector<fg::step_profile>{}));
}
