// What the fuzzer has found worth keeping (tests/fuzz), replayed by every compiler and under every sanitizer.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../fuzz/mutate.hpp"
#include "../fuzz/onnx.cpp"
#include "../io/scratch.hpp"
#include "support/test_file.hpp"

TEST_CASE("onnx: the corpus of the fuzzer") {
  std::vector<std::string> all;
  for (const auto& file : std::filesystem::directory_iterator(flowgraph::testing::test_file("fuzz/corpus/onnx"))) {
    CAPTURE(file.path().string());
    const std::string& bytes = all.emplace_back(flowgraph::testing::file_content(file.path()));
    CHECK(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) == 0);
  }
  CHECK(all.size() >= 100);
  // And what is near them: tests/fuzz/mutate.hpp says for how long.
  const long long tried = flowgraph::testing::for_a_while([&](std::mt19937_64& random) {
    const std::string input =
        flowgraph::testing::mutated(all[random() % all.size()], all[random() % all.size()], random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  });
  CHECK(tried >= 100);
}
