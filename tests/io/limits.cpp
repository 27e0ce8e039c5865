// Files that ask for more memory than they have bytes: refused before it is taken, by what a format can hold at all or
// by a limit that can be set.
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <flowgraph/data/csv.hpp>
#include <flowgraph/formats/crc32.hpp>
#include <flowgraph/formats/idx.hpp>
#include <flowgraph/formats/image.hpp>
#include <flowgraph/formats/npz.hpp>

#if FLOWGRAPH_ZLIB
#include <zlib.h>
#endif

#include "scratch.hpp"

namespace fg = flowgraph;
using fg::testing::golden_path;
using fg::testing::scratch_file;

namespace {

inline constexpr fg::dim height{"height"};
inline constexpr fg::dim width{"width"};

// Which problem reading has, and what it says.
template <class Act>
std::string refusal(fg::problem why, const Act& act) {
  try {
    act();
  } catch (const fg::file_error& e) {
    CHECK(e.why() == why);
    return std::string(std::string_view(e.what()).substr(e.file().size()));
  }
  return "read";
}

[[maybe_unused]] std::string big_endian(std::uint32_t n) {
  std::string s;
  for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>(n >> shift & 0xFF);
  return s;
}
// A PNG image that states a size and has next to nothing in it.
[[maybe_unused]] std::string empty_png(std::uint32_t wide, std::uint32_t high, const std::string& data) {
  const auto chunk = [](const std::string& what) {
    return big_endian(static_cast<std::uint32_t>(what.size() - 4)) + what +
           big_endian(static_cast<std::uint32_t>(fg::detail::crc32_of(what)));
  };
  return "\x89PNG\r\n\x1A\n" + chunk("IHDR" + big_endian(wide) + big_endian(high) + std::string("\x08\x06\0\0\0", 5)) +
         chunk("IDAT" + data) + chunk("IEND");
}

}  // namespace

#if FLOWGRAPH_PNG
TEST_CASE("an image that its file can't hold is refused by its header") {
  const std::string data("\x78\x9C\x63\x60\x60\x60\x60\0\0\0\x04\0\x01", 13);
  const scratch_file bomb(empty_png(16384, 16384, data));
  CHECK(refusal(fg::problem::file_malformed, [&] {
          fg::read_image<height, width, 4>(bomb.path());
        }).starts_with(": an image of 16384 x 16384 pixels takes at least 1040"));
  // Whose size was asked for knows before.
  CHECK(refusal(fg::problem::file_mismatch, [&] { fg::read_image<28, 28, 1>(bomb.path()); }) ==
        ": expected an image of uint8[28, 28, 1], got uint8[16384, 16384, 1]");
  CHECK(refusal(fg::problem::file_limit,
                [&] { fg::read_image<height, width, 3>(golden_path("rgb.png"), {.bytes = 0}); }) == "read");
}
#endif
#if FLOWGRAPH_JPEG
TEST_CASE("a JPEG image that its file can't hold is refused by its header") {
  std::string jpeg = fg::testing::file_content(golden_path("colour.jpg"));
  const std::size_t frame = jpeg.find("\xFF\xC0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, "\x3F\xFF\x3F\xFF");
  const scratch_file bomb(jpeg);
  CHECK(refusal(fg::problem::file_malformed, [&] {
          fg::read_image<height, width, 3>(bomb.path());
        }).find("pixels takes at least") != std::string::npos);
}
#endif

#if FLOWGRAPH_ZLIB
namespace {

std::string packed(const std::string& bytes, bool raw) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, raw ? -MAX_WBITS : 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(bytes.size() / 500 + 1000, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}
std::string little_endian(std::uint64_t n, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i) s += static_cast<char>(n >> (8 * i) & 0xFF);
  return s;
}
// An archive of one deflated entry.
std::string archive_of(const std::string& content) {
  const std::string data = packed(content, true);
  const std::string sizes = little_endian(fg::detail::crc32_of(content), 4) + little_endian(data.size(), 4) +
                            little_endian(content.size(), 4) + little_endian(5, 2) + little_endian(0, 2);
  const std::string local = "PK\3\4" + little_endian(20, 2) + little_endian(0, 2) + little_endian(8, 2) +
                            little_endian(0, 4) + sizes + "x.npy" + data;
  const std::string entry = "PK\1\2" + little_endian(20, 2) + little_endian(20, 2) + little_endian(0, 2) +
                            little_endian(8, 2) + little_endian(0, 4) + sizes + little_endian(0, 2) +
                            little_endian(0, 8) + little_endian(0, 4) + "x.npy";
  return local + entry + "PK\5\6" + little_endian(0, 4) + little_endian(1, 2) + little_endian(1, 2) +
         little_endian(entry.size(), 4) + little_endian(local.size(), 4) + little_endian(0, 2);
}

}  // namespace

TEST_CASE("what is packed may grow to a limit that can be set") {
  constexpr std::size_t count = std::size_t{1} << 22;
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  header.resize(118, ' ');
  const std::string npy =
      std::string("\x93NUMPY\1\0", 8) + little_endian(header.size(), 2) + header + std::string(count, '\0');
  const scratch_file npz(archive_of(npy));
  CHECK(fg::npz(npz.path()).read<std::uint8_t, height>("x").size() == count);
  const auto little = fg::file_limits{.bytes = std::uint64_t{1} << 20};
  CHECK(refusal(fg::problem::file_limit, [&] {
          fg::npz(npz.path(), little).read<std::uint8_t, height>("x");
        }).ends_with("bytes of memory; raise fg::file_limits::bytes if that is meant"));
  const scratch_file gz(packed(npy, false));
  CHECK(fg::read_npy<std::uint8_t, height>(gz.path()).size() == count);
  CHECK(refusal(fg::problem::file_limit, [&] { fg::read_npy<std::uint8_t, height>(gz.path(), little); }) != "read");
  CHECK(refusal(fg::problem::file_limit, [&] { fg::read_idx<std::uint8_t, height>(gz.path(), little); }) != "read");
  CHECK(refusal(fg::problem::file_limit, [&] { fg::csv<float>(gz.path(), {.limits = little}); }) != "read");
}
#endif

TEST_CASE("a line of nothing but separators is counted, not kept") {
  const scratch_file commas(std::string(3'000'000, ','));
  CHECK(refusal(fg::problem::file_mismatch, [&] { fg::csv<float, float>(commas.path(), {.limits = {.bytes = 0}}); }) ==
        ":1: expected 2 fields, got 3000001");
  // Rows of texts that are empty take more than sixteen times their bytes.
  std::string rows;
  for (int i = 0; i < 10000; ++i) rows += ",\n";
  const scratch_file empty(rows);
  CHECK(fg::csv<std::string, std::string>(empty.path()).size() == 10000);
  CHECK(refusal(fg::problem::file_limit, [&] {
          fg::csv<std::string, std::string>(empty.path(), {.limits = {.bytes = 1000}});
        }).starts_with(": reading it takes more than 321000 bytes of memory"));
}

TEST_CASE("what is no file is read up to the limit") {
  CHECK(refusal(fg::problem::file_limit,
                [] { fg::read_npy<float, height>("/dev/zero", {.bytes = std::uint64_t{1} << 20}); }) != "read");
}
