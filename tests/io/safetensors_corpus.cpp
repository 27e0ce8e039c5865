// What the fuzzer has found worth keeping (tests/fuzz), replayed by every compiler and under every sanitizer.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "../fuzz/safetensors.cpp"
#include "scratch.hpp"
#include "support/test_file.hpp"

TEST_CASE("safetensors: the corpus of the fuzzer") {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(fg::testing::test_file("fuzz/corpus/safetensors"))) {
    CAPTURE(file.path().string());
    const std::string bytes = fg::testing::file_content(file.path());
    CHECK(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) == 0);
    ++files;
  }
  CHECK(files >= 200);
}
