// PNG and JPEG files that Pillow wrote, against the pixels it reads from them; PNG files that are written here.
#include <flowgraph/data/from_memory.hpp>
#include <flowgraph/formats/crc32.hpp>
#include <flowgraph/formats/image.hpp>
#include <flowgraph/formats/npz.hpp>
#include <flowgraph/formats/save_png.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "scratch.hpp"
#include "support/golden.hpp"

namespace fg = flowgraph;
using fg::testing::file_problem;
using fg::testing::golden_path;
using fg::testing::scratch_file;

namespace {

inline constexpr fg::dim height{"height"};
inline constexpr fg::dim width{"width"};

template <int Channels>
void check(const std::string& file, const std::string& name, int tolerance = 0) {
  static const auto cases = fg::testing::read_goldens(golden_path("expected.txt").string());
  const auto image = fg::read_image<height, width, Channels>(golden_path(file));
  for (const auto& c : cases) {
    if (c.name != name) continue;
    CAPTURE(name);
    const auto& expected = c.out.at(0);
    REQUIRE(std::vector<std::int64_t>(image.dims().begin(), image.dims().end()) == expected.dims);
    int most = 0;
    for (std::size_t i = 0; i < expected.values.size(); ++i)
      most = std::max(most, std::abs(image.span()[i] - static_cast<int>(expected.values[i])));
    CHECK(most <= tolerance);
    return;
  }
  FAIL("expected.txt has no case " << name);
}

std::string problem_of(const std::string& content) {
  const scratch_file file(content);
  return file_problem([&] { fg::read_image<height, width, 3>(file.path()); });
}

[[maybe_unused]] void check_damaged(const std::string& name) {
  CAPTURE(name);
  const std::string whole = fg::testing::file_content(golden_path(name));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(problem_of(whole.substr(0, length)) != "no file_error");
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0xFF);
    problem_of(changed);  // an image or a file_error
  }
}

}  // namespace

#if FLOWGRAPH_PNG
TEST_CASE("PNG files of every kind become 8 bits a channel") {
  check<3>("rgb.png", "rgb_3");
  check<1>("rgb.png", "rgb_1");
  check<4>("rgb.png", "rgb_4");
  check<4>("rgba.png", "rgba_4");
  check<3>("rgba.png", "rgba_3");
  check<1>("gray.png", "gray_1");
  check<3>("gray.png", "gray_3");
  check<2>("gray_alpha.png", "gray_alpha_2");
  check<1>("gray_alpha.png", "gray_alpha_1");
  check<3>("palette.png", "palette_3");
  check<1>("bits.png", "bits_1");
  check<1>("deep.png", "deep_1");
}

TEST_CASE("damaged PNG files are refused") {
  for (const char* name : {"rgb.png", "palette.png"}) check_damaged(name);
  // A header with the right check sum of 100,000 by 100,000 pixels.
  std::string huge = fg::testing::file_content(golden_path("gray.png")).substr(0, 29);
  huge.replace(16, 8, std::string("\0\x01\x86\xA0\0\x01\x86\xA0", 8));
  const std::uint32_t sum = fg::detail::crc32_of(std::string_view(huge).substr(12));
  for (int shift = 24; shift >= 0; shift -= 8) huge += static_cast<char>(sum >> shift & 0xFFu);
  huge += fg::testing::file_content(golden_path("gray.png")).substr(33);
  CHECK(problem_of(huge) == ": expected an image of 1 to 268435456 pixels, got 100000 x 100000");
}

TEST_CASE("an image has the extents that were asked for") {
  CHECK(fg::read_image<5, 6, 3>(golden_path("rgb.png")).size() == 90);
  CHECK(file_problem([] { fg::read_image<5, 5, 3>(golden_path("rgb.png")); }) ==
        ": expected an image of uint8[5, 5, 3], got uint8[5, 6, 3]");
}

TEST_CASE("image files are a dataset of their names, decoded on threads and batched") {
  const std::vector<std::string> files{"rgb.png", "rgba.png", "gray.png"};
  const auto images =
      fg::from_memory(files).map([](const std::string& name) { return fg::read_image<5, 6, 3>(golden_path(name)); });
  for (auto batch : images.batch(3).prefetch(2, 2)) {
    CHECK(batch.dims() == std::array<std::int64_t, 4>{3, 5, 6, 3});
    CHECK(fg::ndarray<std::uint8_t, 5, 6, 3>(batch[1]) == fg::read_image<5, 6, 3>(golden_path("rgba.png")));
  }
}

TEST_CASE("what save_png writes is what read_image reads") {
  const fg::testing::scratch_directory directory;
  const auto file = directory / "a.png";
  for (const char* name : {"rgba.png", "gray_alpha.png"}) {
    const auto image = fg::read_image<height, width, 4>(golden_path(name));
    fg::save_png(file, image);
    CHECK(fg::read_image<height, width, 4>(file) == image);
  }
  const auto gray = fg::read_image<height, width, 1>(golden_path("gray.png"));
  fg::save_png(file, gray);
  CHECK(fg::read_image<height, width, 1>(file) == gray);

  const double nan = std::numeric_limits<double>::quiet_NaN();
  fg::save_png(file, fg::ndarray<double, 2, 4>{{0, 0.2, 0.999, 1}, {-1, 7, nan, 0.5}});  // 0 to 1
  CHECK(fg::read_image<2, 4, 1>(file) == fg::ndarray<std::uint8_t, 2, 4, 1>({2, 4, 1}, [](std::uint8_t* to) {
          for (const int x : {0, 51, 255, 255, 0, 255, 0, 128}) *to++ = static_cast<std::uint8_t>(x);
        }));
  fg::save_png(file, fg::ndarray<bool, 1, 2>{{false, true}});
  CHECK(fg::read_image<1, 2, 1>(file)(0, 1, 0) == 255);
}

TEST_CASE("what is no picture, and where none can be written") {
  const fg::testing::scratch_directory directory;
  const fg::ndarray<float, height, width> empty;
  CHECK(file_problem([&] { fg::save_png(directory / "a.png", empty); }) ==
        ": expected an image of 1 to 268435456 pixels, got 0 x 0");
  const fg::ndarray<float, 2, 2, height> deep(height(5));
  CHECK_THROWS_WITH_AS(fg::save_png("a.png", deep), "a.png: expected 1 to 4 channels, got 5", fg::argument_error);
  const fg::ndarray<float, 2, 2> picture;
  CHECK(file_problem([&] { fg::save_png(directory / "none" / "a.png", picture); }) != "no file_error");
  CHECK(std::filesystem::is_empty(directory.path()));
}
#else
TEST_CASE("without libpng no picture is written") {
  const fg::ndarray<float, 2, 2> picture;
  CHECK(file_problem([&] { fg::save_png("a.png", picture); }) ==
        ": the program was built without libpng; link flowgraph::data or flowgraph::summary where CMake finds it");
}

TEST_CASE("without libpng a PNG file is refused") {
  CHECK(file_problem([] { fg::read_image<height, width, 3>(golden_path("rgb.png")); }) ==
        ": the program was built without libpng; link flowgraph::data where CMake finds it");
}
#endif

#if FLOWGRAPH_JPEG
TEST_CASE("JPEG files, baseline and progressive") {
  // Decoders may round differently.
  check<3>("colour.jpg", "colour", 2);
  check<3>("colour_progressive.jpg", "colour_progressive", 2);
  check<1>("shade.jpg", "shade", 2);
  check<1>("shade_progressive.jpg", "shade_progressive", 2);
}

TEST_CASE("damaged JPEG files are refused") {
  for (const char* name : {"colour.jpg", "colour_progressive.jpg", "shade.jpg"}) check_damaged(name);
  CHECK(problem_of(fg::testing::file_content(golden_path("cmyk.jpg"))).find("Unsupported color conversion") !=
        std::string::npos);
}
#else
TEST_CASE("without libjpeg a JPEG file is refused") {
  CHECK(file_problem([] { fg::read_image<height, width, 3>(golden_path("colour.jpg")); }) ==
        ": the program was built without libjpeg; link flowgraph::data where CMake finds it");
}
#endif

TEST_CASE("what is no image is refused") {
  CHECK(problem_of("") == ": at byte 0: expected a PNG or JPEG image");
  CHECK(problem_of("GIF89a") == ": at byte 0: expected a PNG or JPEG image");
  CHECK(file_problem([] { fg::read_image<height, width, 3>("/no/such/file.png"); }) == ": can't be opened");
}
