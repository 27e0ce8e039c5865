// Writes what there is to look at, for tests that open it with the tools it is made for:
//   look_samples DIRECTORY
// The model has about 300 nodes: residual blocks with their gradients and updates, in scopes.
#include <cstdint>
#include <filesystem>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/look.hpp>
#include <flowgraph/runtime/session.hpp>

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

constexpr auto model = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 32>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto h = identity(x);
  constexpr const char* names[] = {"block1", "block2", "block3", "block4", "block5", "block6"};
  for (const char* name : names) {
    auto block = g.scope(name);
    auto w = g.variable<float, 32, 32>("w", fg::init::glorot_uniform());
    auto b = g.variable<float, 32>("b");
    auto wide = [&] {
      auto inner = g.scope("inner");
      return relu(matmul(h, w) + b);
    }();
    h = g.name("out", h + wide * 0.5f);
  }
  auto head = g.scope("head");
  auto w = g.variable<float, 32, 10>("w", fg::init::glorot_uniform());
  auto logits = g.name("logits", matmul(h, w));
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adam(0.001).minimize(loss));
});

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  const std::vector<float> x(64 * 32, 0.5f);
  const std::vector<std::int64_t> y(64, 3);
  fg::session<model> s({.threads = 2, .inter_op = fg::inter_op_policy::parallel, .profile = 3});
  for (int i = 0; i < 5; ++i) s.run<"head/loss", "head/train">(fg::feed<"x">(x), fg::feed<"y">(y));
  fg::write_trace(directory / "trace.json", s.profile());
}
