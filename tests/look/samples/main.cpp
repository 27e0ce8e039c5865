// Writes what there is to look at, for tests that open it with the tools it is made for:
//   look_samples DIRECTORY
// The model has more than 300 nodes: residual blocks with their gradients and updates, in scopes, its head on a device
// of its own.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <tuple>
#include <vector>

#include <flowgraph/define.hpp>
#include <flowgraph/look.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#if __has_include(<protozero/version.hpp>)
#include <flowgraph/summary.hpp>
#endif

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};

using weights = fg::variable<float, 32, 32>;

// The first block's weights, the loss, and the operation that trains.
auto build(fg::graph& g) {
  auto x = g.placeholder<float, batch, 32>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto h = identity(x);
  weights first;
  for (const char* name : {"block1", "block2", "block3", "block4", "block5", "block6"}) {
    auto block = g.scope(name);
    auto w = g.variable<float, 32, 32>("w", fg::init::glorot_uniform());
    auto b = g.variable<float, 32>("b");
    auto wide = [&] {
      auto inner = g.scope("inner");
      return relu(matmul(h, w) + b);
    }();
    if (first.id < 0) first = w;
    h = g.name("out", h + wide * 0.5f);
  }
  auto head = g.scope("head");
  auto there = g.device("/cpu:1");
  auto w = g.variable<float, 32, 10>("w", fg::init::glorot_uniform());
  auto logits = g.name("logits", matmul(h, w));
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  return std::tuple(first, loss, g.name("train", fg::adam(0.001).minimize(loss)));
}

#if __has_include(<protozero/version.hpp>)
void write_events(const std::filesystem::path& directory, const fg::graph& model, fg::dynamic_session& s,
                  const weights& w) {
  std::filesystem::remove_all(directory);
  fg::summary_writer log(directory);
  for (int i = 0; i < 10; ++i) log.scalar("train/loss", 1.0 / (1 + i), 100 * i);
  log.histogram("weights", s.get(w), 7);
  log.histogram("numbers", std::vector<double>{-1, 0, 0.5, 0.5, 2, std::nan(""), INFINITY}, 7);
  log.histogram("empty", std::vector<float>{}, 7);
  log.histogram("same", std::vector<std::int64_t>{5, 5, 5}, 7);
  log.text("note", "# A *heading*\n\nz\u00fcrich", 3);
  log.graph(model);
  log.profile(s.profile().back(), model);
#if FLOWGRAPH_PNG
  fg::ndarray<std::uint8_t, 2, 4, 6, 3> pictures;
  for (std::int64_t i = 0; i < pictures.size(); ++i) pictures.data()[i] = static_cast<std::uint8_t>(i);
  log.image("pictures", pictures, 5);
  log.image("gray", fg::ndarray<float, 2, 3>({{0.0f, 0.5f, 1.0f}, {2.0f, -1.0f, 0.25f}}), 5);
#endif
}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  const std::vector<float> x(64 * 32, 0.5f);
  const std::vector<std::int64_t> y(64, 3);
  fg::graph model;
  const auto [w, loss, train] = build(model);
  fg::dynamic_session s(
      model, {.threads = 2, .inter_op = fg::inter_op_policy::parallel, .profile = 3, .devices = {"/cpu:0", "/cpu:1"}});
  for (int i = 0; i < 5; ++i) s.run(loss, train, fg::feed("x", x), fg::feed("y", y));
  fg::write_trace(directory / "trace.json", s.profile());
  fg::write_html(directory / "page.html", model, s.profile(),
                 {.fetches = {"head/loss", "head/train"}, .extents = {batch(64)}, .devices = {"/cpu:0", "/cpu:1"}});
#if __has_include(<protozero/version.hpp>)
  write_events(directory / "events", model, s, w);
#endif
}
