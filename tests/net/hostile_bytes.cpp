// What the fuzzer of peers has found worth keeping (tests/fuzz), replayed by every compiler and under every sanitizer.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../fuzz/mutate.hpp"
#include "../fuzz/net.cpp"
#include "../io/scratch.hpp"
#include "support/test_file.hpp"

TEST_CASE("hostile: any bytes from a peer") {
  std::vector<std::string> all;
  for (const auto& file : std::filesystem::directory_iterator(fg::testing::test_file("fuzz/corpus/net"))) {
    CAPTURE(file.path().string());
    const std::string& bytes = all.emplace_back(fg::testing::file_content(file.path()));
    CHECK(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) == 0);
  }
  CHECK(all.size() >= 8);
  // And what is near them: tests/fuzz/mutate.hpp says for how long.
  const long long tried = fg::testing::for_a_while([&](std::mt19937_64& random) {
    const std::string input = fg::testing::mutated(all[random() % all.size()], all[random() % all.size()], random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  });
  CHECK(tried >= 64);
}
