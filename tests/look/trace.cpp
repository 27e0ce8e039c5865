// Profiles as traces and tables: what is in them, and that no thread does two things at once.
#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/look.hpp>
#include <flowgraph/look/json_text.hpp>
#include <flowgraph/session/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto w = g.variable<float, 64, 64>("w", fg::init::ones());
  auto v = g.variable<float, 64, 64>("v", fg::init::ones());
  auto h = g.name("h", matmul(x, w));
  g.name("y", reduce_sum(tanh(h) * 2.0f) + reduce_sum(matmul(x, v)));
});

struct span {
  std::int64_t begin, end;
};

// Is each of them within, or apart from, every other one?
bool nest(std::vector<span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const span& a, const span& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<span> open;
  for (const span& s : spans) {
    while (!open.empty() && open.back().end <= s.begin) open.pop_back();
    if (!open.empty() && s.end > open.back().end) return false;
    open.push_back(s);
  }
  return true;
}

}  // namespace

TEST_CASE("JSON: commas, numbers, and texts with whatever users put into names") {
  fg::detail::json_text w;
  w.object([&] {
    w.field("a\"\\\n</script>", -3);
    w.field("list", [&] {
      w.array([&] {
        w.value(true);
        w.microseconds(1'002'003);
        w.array([] {});
        w.value("z\xC3\xBC\xE2\x82\xAC\xF0\x9F\x99\x82");
        w.value("\xC3");              // cut off
        w.value("\xED\xA0\x80\xFF");  // half a surrogate pair, and no beginning
      });
    });
    w.field("empty", [&] { w.object([] {}); });
  });
  CHECK(w.text() ==
        "{\"a\\\"\\\\\\u000a\\u003c/script>\":-3,\"list\":[true,1002.003,[],\"z\xC3\xBC\xE2\x82\xAC\xF0\x9F\x99\x82\","
        "\"?\",\"????\"],\"empty\":{}}");
}

TEST_CASE("steps of two threads on one session: threads have numbers of their own, and none does two things at once") {
  const std::vector<float> x(128 * 64, 0.5f);
  fg::session<model> s({.threads = 2, .inter_op = fg::inter_op_policy::parallel, .profile = 100});
  const auto work = [&] {
    for (int i = 0; i < 20; ++i) s.run<"y">(fg::feed<"x">(x));
  };
  std::thread other(work);
  work();
  other.join();
  const std::vector<fg::step_profile> steps = s.profile();
  REQUIRE(steps.size() == 40);
  std::vector<std::vector<span>> by_thread(8);
  std::vector<bool> called(8);
  for (const fg::step_profile& p : steps) {
    called.at(static_cast<std::size_t>(p.thread)) = true;
    by_thread.at(static_cast<std::size_t>(p.thread)).push_back({p.began, p.began + p.nanoseconds});
    for (const fg::instruction_profile& i : p.instructions)
      by_thread.at(static_cast<std::size_t>(i.thread)).push_back({p.began + i.begin, p.began + i.end});
  }
  CHECK(std::count(called.begin(), called.end(), true) == 2);
  for (const std::vector<span>& spans : by_thread) CHECK(nest(spans));
  CHECK_FALSE(nest({{0, 10}, {5, 15}}));
}

TEST_CASE("a trace has each instruction with what it cost") {
  fg::session<model> s({.threads = 1, .kernels = fg::kernels::eigen, .profile = 1});
  s.run<"y">(fg::feed<"x">(std::vector<float>(32 * 64, 1.0f)));
  const std::string trace = fg::to_trace(s.profile());
  const auto has = [&](const std::string& text) { return trace.find(text) != std::string::npos; };
  CHECK(has("{\"name\":\"\\\"h\\\"\",\"cat\":\"matmul\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":"));
  CHECK(has("\"shapes\":\"float[32, 64], float[64, 64] -> float[32, 64]\",\"where\":\""));
  CHECK(has("trace.cpp:25\",\"provider\":\"flowgraph\",\"bytes\":32768,\"flops\":262144,\"waited\":0,\"step\":0}"));
  CHECK(has("{\"name\":\"step 0\",\"cat\":\"step\",\"ph\":\"X\",\"pid\":0,\"tid\":0,"));
  CHECK(has(
      "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"/job:local/task:0/cpu:0\"}}"));
  CHECK_THROWS_AS(fg::write_trace("/no/such/directory/trace.json", s.profile()), fg::file_error);
}

TEST_CASE("the table of ops adds up nodes of the same op") {
  fg::session<model> s({.threads = 1, .kernels = fg::kernels::eigen, .profile = 2});
  for (int i = 0; i < 2; ++i) s.run<"y">(fg::feed<"x">(std::vector<float>(32 * 64, 1.0f)));
  const std::string table = fg::top_ops(s.profile());
  CHECK(table.find("2 steps, ") == 0);
  const std::size_t line = table.find("  matmul\n");
  REQUIRE(line != std::string::npos);
  const std::string row = table.substr(table.rfind('\n', line - 1) + 1, line - table.rfind('\n', line - 1) - 1);
  double share = 0, us = 0, each = 0;
  int calls = 0;
  REQUIRE(std::sscanf(row.c_str(), " %lf%% %lf %lf %d", &share, &us, &each, &calls) == 4);
  CHECK(calls == 4);
  CHECK(us == doctest::Approx(4 * each).epsilon(0.1));
  CHECK(fg::top_ops(s.profile(), 1).find("\nand ") != std::string::npos);
}
