// Files of every format, changed at random: each reader gives what the file holds or throws file_error. A second in the
// suite; FLOWGRAPH_FUZZ_SECONDS is for longer, FLOWGRAPH_FUZZ_SEED for others.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#define LLVMFuzzerTestOneInput read_any_file  // another test of this program has one
#include "../fuzz/files.cpp"
#undef LLVMFuzzerTestOneInput
#include "../fuzz/mutate.hpp"
#include "scratch.hpp"

TEST_CASE("hostile files: every reader of arrays, on files that were changed at random") {
  std::vector<std::string> whole;
  for (const auto& file : std::filesystem::directory_iterator(fg::testing::golden_path("")))
    if (file.path().extension() != ".txt" && file.path().extension() != ".safetensors")
      whole.push_back(fg::testing::file_content(file.path()));
  whole.insert(whole.end(), {"1.5,-2,3\n4,5e-1,-6\n", "70000,1e39,true\r\n0.5,-3.4e38,0\n",
                             "\"a \"\"b\"\"\",1\nc,255\n", "1,2\n3\n", std::string(5000, ','),
                             "\xEF\xBB\xBF"
                             "1,2,3\n"});
  CHECK(whole.size() > 30);
  // As they are, too: every file by every reader.
  for (const std::string& bytes : whole)
    for (std::size_t format = 0; format < std::size(readers); ++format) {
      const std::string input = static_cast<char>(format) + bytes;
      CHECK(read_any_file(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()) == 0);
    }
  const long long tried = fg::testing::for_a_while([&](std::mt19937_64& random) {
    const std::string input =
        static_cast<char>(random() % std::size(readers)) +
        fg::testing::mutated(whole[random() % whole.size()], whole[random() % whole.size()], random);
    read_any_file(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  });
  MESSAGE(tried, " files");
  CHECK(tried >= 100);
}
