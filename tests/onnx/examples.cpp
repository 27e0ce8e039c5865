// The networks of the examples, trained a little on the digits, as ONNX files that give the same numbers.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph.hpp>
#include <flowgraph/onnx.hpp>

#include "../../examples/support/table.hpp"
#include "../io/scratch.hpp"
#include "rows.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;
using namespace fg::testing;

namespace {

inline constexpr fg::dim batch{"batch"};

inline constexpr auto mlp = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto h = fg::dropout(relu(fg::layers::dense<32>(x, "hidden")), 0.2);
  auto logits = g.name("logits", fg::layers::dense<10>(h, "out"));
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adagrad(0.05).minimize(loss));
  // What the network says without dropout: the layers' names make their parameters the same.
  auto quiet = relu(fg::layers::dense<32>(x, "hidden"));
  g.name("quiet", fg::layers::dense<10>(quiet, "out"));
});

inline constexpr auto cnn = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 64>("x");
  auto y = g.placeholder<std::int64_t, batch>("y");
  auto images = reshape<batch, 8, 8, 1>(x);
  auto h = max_pool(relu(fg::layers::conv2d<8, 3, 3, fg::conv{.padding = fg::same}>(images, "conv1")));
  h = h + relu(fg::layers::conv2d<8, 3, 3, fg::conv{.padding = fg::same}>(h, "conv2"));
  auto logits = g.name("logits", fg::layers::dense<10>(reduce_mean<1, 2>(h), "out"));
  auto loss = g.name("loss", reduce_mean(softmax_cross_entropy_with_logits(logits, y)));
  g.name("train", fg::adam(0.01).minimize(loss));
});

constexpr std::size_t images = 128;

struct digits_data {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;

  digits_data() {
    const auto t = example::read_csv(fg::testing::test_file("../examples/data/digits.csv"));
    for (std::size_t i = 0; i < images; ++i) {
      for (std::size_t j = 0; j < 64; ++j) pixels.push_back(static_cast<float>(t.at(i, j)) / 16.0f);
      labels.push_back(static_cast<std::int64_t>(t.at(i, 64)));
    }
  }
};

template <const auto& Model>
void train(fg::session<Model>& s, const digits_data& data) {
  float first = 0, last = 0;
  for (int step = 0; step < 30; ++step) {
    last = s.template run<"loss", "train">(fg::feed<"x">(data.pixels), fg::feed<"y">(data.labels));
    if (step == 0) first = last;
  }
  CHECK(last < first);
}

// Beside the rows', with what it says of the images here.
void compare_file(const std::filesystem::path& directory, const std::vector<float>& pixels,
                  const fg::ndarray<float, batch, 10>& logits) {
  const std::vector<std::int64_t> shape{images, 64}, result{images, 10};
  const typed_array x(fg::dtype::float32, shape, {pixels.begin(), pixels.end()});
  const typed_array y(fg::dtype::float32, result, {logits.begin(), logits.end()});
  write_tensor(directory / "input_0.pb", "x", x.borrow());
  const fg::onnx_model m = fg::import_onnx(directory / "model.onnx");
  REQUIRE(m.inputs().size() == 1);  // the labels are not needed
  write_tensor(directory / "output_0.pb", m.outputs()[0].name, y.borrow());
  compare(directory.filename().string(), run_model(directory / "model.onnx", {x})[0], as_fetched(y), 1e-5);
}

std::filesystem::path made(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  return directory;
}

}  // namespace

TEST_CASE("onnx: the examples' networks, trained and exported") {
  const char* kept = std::getenv("FLOWGRAPH_ONNX_CASES");
  const scratch_directory scratch;
  const std::filesystem::path root = kept != nullptr ? std::filesystem::path(kept) : scratch / "models";
  const digits_data data;
  {
    fg::session<mlp> s({.seed = 1});
    train(s, data);
    const auto directory = made(root / "digits_mlp");
    fg::export_onnx<"logits">(s, directory / "model.onnx");  // with dropout in it, which is left out
    compare_file(directory, data.pixels, s.run<"quiet">(fg::feed<"x">(data.pixels)));
  }
  {
    fg::session<cnn> s({.seed = 1});
    train(s, data);
    const auto directory = made(root / "digits_cnn");
    fg::export_onnx<"logits">(s, directory / "model.onnx");
    compare_file(directory, data.pixels, s.run<"logits">(fg::feed<"x">(data.pixels)));
    // One transpose would be needed where the images come in; with one channel it is a reshape.
    const std::string bytes = file_content(directory / "model.onnx");
    int transposes = 0;
    for (const auto& n : fg::onnx::decoder::decode("", bytes).graph.nodes) transposes += n.op == "Transpose";
    CHECK(transposes == 0);
  }
}
