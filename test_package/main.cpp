#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <flowgraph.hpp>
#include <flowgraph/checkpoint.hpp>
#include <flowgraph/data.hpp>
#include <flowgraph/onnx.hpp>

namespace fg = flowgraph;

inline constexpr fg::dim batch{"batch"};

inline constexpr auto line = fg::define([](fg::graph& g) {
  auto x = g.placeholder<float, batch, 2>("x");
  auto w = g.variable<float, 2, 1>("w");
  g.name("y", matmul(x, w) + 1.0f);
});

int main() {
  fg::session<line> s;
  const fg::ndarray<float, batch, 2> x{{1, 2}, {3, 4}, {5, 6}};
  for (const auto& rows : fg::from_memory(x).batch(3)) {
    const auto y = s.run<"y">(fg::feed<"x">(rows));  // w starts as zeros
    if (y.size() != 3 || y.data()[0] != 1.0f) return 1;
  }
#if FLOWGRAPH_ONEDNN
  fg::session<line> other({.kernels = fg::kernels::onednn});
  if (other.plan_text<"y">(fg::feed<"x">(x)).find("by onednn") == std::string::npos) return 2;
  const auto z = other.run<"y">(fg::feed<"x">(x));
  if (z.data()[2] != 1.0f) return 3;
#endif

  const std::string directory = std::filesystem::temp_directory_path().string() + "/flowgraph_test_package";
  std::filesystem::create_directories(directory);
  s.set<"w">(fg::ndarray<float, 2, 1>{{2}, {3}});
  fg::save(s, directory + "/line.safetensors");
  fg::session<line> restored;
  fg::restore(restored, directory + "/line.safetensors");
  const auto again = restored.run<"y">(fg::feed<"x">(x));
  if (again.data()[1] != 3 * 2 + 4 * 3 + 1) return 4;
  fg::export_onnx<"y">(restored, directory + "/line.onnx");
  if (std::filesystem::file_size(directory + "/line.onnx") < 64) return 5;
  std::filesystem::remove_all(directory);
#ifdef FLOWGRAPH_COMPILED
  std::printf("kernels for %s\n", std::string(fg::instruction_set()).c_str());
#endif
  std::puts("flowgraph works here");
}
