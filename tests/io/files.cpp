// .npy, .npz and IDX files that NumPy and Python wrote, against what they read from them.
#include <flowgraph/formats/idx.hpp>
#include <flowgraph/formats/npz.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "scratch.hpp"
#include "support/golden.hpp"

namespace fg = flowgraph;
using fg::testing::file_problem;
using fg::testing::golden_path;
using fg::testing::scratch_file;

namespace {

inline constexpr fg::dim n{"n"};
inline constexpr fg::dim m{"m"};

void check(const std::string& name, const auto& array) {
  static const auto cases = fg::testing::read_goldens(golden_path("expected.txt").string());
  for (const auto& c : cases) {
    if (c.name != name) continue;
    const auto& expected = c.out.at(0);
    CAPTURE(name);
    CHECK(std::vector<std::int64_t>(array.dims().begin(), array.dims().end()) == expected.dims);
    std::vector<double> values;
    for (const auto v : array.span()) values.push_back(static_cast<double>(v));
    CHECK(values == expected.values);
    return;
  }
  FAIL("expected.txt has no case " << name);
}

template <class T, auto... E>
void check_npy(const std::string& name) {
  check(name, fg::read_npy<T, E...>(golden_path(name + ".npy")));
}
template <class T, auto... E>
void check_idx(const std::string& name) {
  check("idx_" + name, fg::read_idx<T, E...>(golden_path(name + ".idx")));
}

// Every beginning of the file but the whole must be refused by a file_error.
template <class Read>
void check_cut(const std::string& name, const Read& read) {
  const std::string whole = fg::testing::file_content(golden_path(name));
  scratch_file file(whole);
  CHECK_NOTHROW(read(file.path()));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    file.write(whole.substr(0, length));
    CAPTURE(name);
    CAPTURE(length);
    CHECK_THROWS_AS(read(file.path()), fg::file_error);
  }
  file.write(whole + "x");
  CHECK_THROWS_AS(read(file.path()), fg::file_error);
}

// A byte changed anywhere gives an array or a file_error, never anything worse.
template <class Read>
void check_changed(const std::string& name, const Read& read) {
  const std::string whole = fg::testing::file_content(golden_path(name));
  scratch_file file(whole);
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      file.write(changed);
      try {
        read(file.path());
      } catch (const fg::file_error&) {
      }
    }
}

std::string npy_file(const std::string& header, const std::string& data = "") {
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

template <class T, auto... E>
std::string npy_problem(const std::string& content) {
  const scratch_file file(content);
  return file_problem([&] { fg::read_npy<T, E...>(file.path()); });
}
template <class T, auto... E>
std::string idx_problem(const std::string& content) {
  const scratch_file file(content);
  return file_problem([&] { fg::read_idx<T, E...>(file.path()); });
}

}  // namespace

TEST_CASE(".npy files hold what NumPy wrote") {
  check_npy<float, n, 4>("float32");
  check_npy<float, n, m>("float32");
  check_npy<float, 3, 4>("float32_big");
  check_npy<float, n, m>("float32_fortran");
  check_npy<double, n, 3, 4>("float64_fortran3");
  check_npy<double, n>("float64");
  check_npy<fg::half, 2, 2>("float16");
  check_npy<std::int64_t>("int64_scalar");
  check_npy<std::int32_t, n>("int32_big");
  check_npy<std::int64_t, n, 2>("int64");
  check_npy<std::uint8_t, 2, 3>("uint8");
  check_npy<std::int8_t, n>("int8");
  check_npy<bool, n>("bool");
  check_npy<float, n, 3>("empty");
  check_npy<float, n, 4>("version2");
}

TEST_CASE(".npz files hold what NumPy wrote, stored and deflated") {
  for (const std::string name : {"stored", "deflated"}) {
#if !FLOWGRAPH_ZLIB
    if (name == "deflated") continue;
#endif
    const fg::npz file(golden_path(name + ".npz"));
    CHECK(file.names() == std::vector<std::string>{"x", "y"});
    check(name + "_x", file.read<float, n, 3>("x"));
    check(name + "_y", file.read<std::int64_t, n>("y"));
    CHECK(file_problem([&] { file.read<float, n, 3>("z"); }) == ": expected an array \"z\", got x, y");
  }
}

TEST_CASE("IDX files hold what Python wrote, also packed by gzip") {
  check_idx<std::uint8_t, n, 4, 2>("images");
  check_idx<std::uint8_t, n>("labels");
  check_idx<std::int8_t, n>("i1");
  check_idx<std::int32_t, 1, n>("i4");
  check_idx<float, n, 3>("f4");
  check_idx<double, n>("f8");
#if FLOWGRAPH_ZLIB
  check("idx_images", fg::read_idx<std::uint8_t, n, 4, 2>(golden_path("images.idx.gz")));
#else
  CHECK(file_problem([] {
          fg::read_idx<std::uint8_t, n, 4, 2>(golden_path("images.idx.gz"));
        }).find("built without zlib") != std::string::npos);
#endif
}

TEST_CASE("a file that is cut off anywhere, or goes on, is refused") {
  check_cut("float32.npy", [](const auto& path) { fg::read_npy<float, n, 4>(path); });
  check_cut("float64_fortran3.npy", [](const auto& path) { fg::read_npy<double, n, 3, 4>(path); });
  check_cut("bool.npy", [](const auto& path) { fg::read_npy<bool, n>(path); });
  check_cut("images.idx", [](const auto& path) { fg::read_idx<std::uint8_t, n, 4, 2>(path); });
  const auto read_npz = [](const auto& path) {
    const fg::npz file(path);
    file.read<float, n, 3>("x");
    file.read<std::int64_t, n>("y");
  };
  check_cut("stored.npz", read_npz);
#if FLOWGRAPH_ZLIB
  check_cut("deflated.npz", read_npz);
  check_cut("images.idx.gz", [](const auto& path) { fg::read_idx<std::uint8_t, n, 4, 2>(path); });
#endif
}

TEST_CASE("a file with a changed byte is read or refused") {
  check_changed("float32.npy", [](const auto& path) { fg::read_npy<float, n, 4>(path); });
  check_changed("bool.npy", [](const auto& path) { fg::read_npy<bool, n>(path); });
  check_changed("images.idx", [](const auto& path) { fg::read_idx<std::uint8_t, n, 4, 2>(path); });
  check_changed("images.idx.gz", [](const auto& path) { fg::read_idx<std::uint8_t, n, 4, 2>(path); });
  for (const char* name : {"stored.npz", "deflated.npz"})
    check_changed(name, [](const auto& path) {
      const fg::npz file(path);
      file.read<float, n, 3>("x");
      file.read<std::int64_t, n>("y");
    });
}

TEST_CASE("what a file is not is told with the byte and both sides") {
  const auto golden = [](const char* name) { return fg::testing::file_content(golden_path(name)); };
  CHECK(file_problem([] { fg::read_npy<float, n>(golden_path("absent.npy")); }) == ": can't be opened");
  CHECK(file_problem([] { fg::read_npy<float, n>(golden_path("")); }) == ": can't be read to its end");
  CHECK(npy_problem<float, n>("") ==
        ": at byte 0: expected 6 bytes of the magic number of .npy, but only 0 are left: the file is cut off or its "
        "header is wrong");
  CHECK(npy_problem<float, n>("PK\x03\x04 and so on") ==
        ": at byte 6: expected a .npy file, which begins with \\x93NUMPY");
  CHECK(npy_problem<double, n, 4>(golden("float32.npy")) ==
        ": at byte 10: expected elements of double (f8 in NumPy's words), got <f4");
  CHECK(npy_problem<float, n>(golden("int16.npy")) ==
        ": at byte 10: expected elements of float (f4 in NumPy's words), got <i2");
  CHECK(npy_problem<float, n>(golden("float32.npy")) == ": at byte 128: expected float[n], got float[3, 4]");
  CHECK(npy_problem<float, n, 5>(golden("float32.npy")) == ": at byte 128: expected float[n, 5], got float[3, 4]");
  CHECK(npy_problem<float, n>(golden("record.npy")).starts_with(": at byte 10: the header is not that of an array"));
  CHECK(npy_problem<float, n>(std::string("\x93NUMPY\x04\x00", 8)) ==
        ": at byte 8: expected version 1.0, 2.0 or 3.0 of .npy, got 4.0");

  CHECK(idx_problem<std::uint8_t, n>("IDX?") == ": at byte 2: expected an IDX file, which begins with two bytes of 0");
  CHECK(idx_problem<std::uint8_t, n>(std::string("\0\0\x0A\1", 4)) ==
        ": at byte 3: expected an element type of IDX, 8 to 14, got 10");
  CHECK(idx_problem<float, n>(golden("i2.idx")) == ": at byte 3: expected elements of float, got int16");
  CHECK(idx_problem<std::uint8_t, n>(golden("images.idx")) == ": at byte 16: expected uint8[n], got uint8[3, 4, 2]");
}

TEST_CASE("headers that state more than there is allocate nothing and are refused") {
  const auto header = [](const std::string& shape) {
    return npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }\n", "1234");
  };
  CHECK(npy_problem<float, n>(header("1,")) == "no file_error");
  CHECK(npy_problem<float, n>(header("1000000000000000,")).find("only 4 are left") != std::string::npos);
  CHECK(npy_problem<float, n>(header("18446744073709551615,")).find("no array has as many elements") !=
        std::string::npos);
  CHECK(npy_problem<float, n>(header("18446744073709551616,")).find("expected an extent") != std::string::npos);
  CHECK(npy_problem<float, n>(header("-1,")).find("expected an extent") != std::string::npos);
  // 2^32 * 2^32 wraps around to 0 elements, 2^62 + 1 elements of 4 bytes to 4 bytes.
  CHECK(npy_problem<float, n, m>(header("4294967296, 4294967296")).find("no array") != std::string::npos);
  CHECK(npy_problem<float, n>(header("4611686018427387905,")).find("no array") != std::string::npos);
  CHECK(npy_problem<float, n, m>(header("18446744073709551615, 0")).find("no array") != std::string::npos);
  const std::string four_gib("\xFF\xFF\xFF\xFF", 4);
  CHECK(idx_problem<double, n, m>(std::string("\0\0\x0E\2", 4) + four_gib + four_gib).find("no array") !=
        std::string::npos);
  CHECK(idx_problem<std::uint8_t, n>(std::string("\0\0\x08\1", 4) + four_gib).find("only 0 are left") !=
        std::string::npos);
  CHECK(idx_problem<std::uint8_t, n>(std::string("\0\0\x08\xFF", 4)).find("an extent") != std::string::npos);
}

TEST_CASE("headers of .npy that are not Python's dictionary are refused") {
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} and more",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "{'descr", "{'descr': <f4}",
        "{'descr': '', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (1,)}"}) {
    CAPTURE(header);
    CHECK(npy_problem<float, n>(npy_file(header, "1234")).starts_with(": at byte 10: "));
  }
  CHECK(npy_problem<bool, n>(npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\2")) ==
        ": at byte 66: expected a bool, 0 or 1, got 2");
}

TEST_CASE("archives that are packed otherwise, or damaged, are refused") {
  CHECK(file_problem([] {
          fg::npz file(golden_path("bzip2.npz"));
        }).find("to be stored or deflated, and not encrypted") != std::string::npos);
  CHECK(file_problem([] { fg::npz file(golden_path("float32.npy")); }) ==
        ": at byte 0: expected a ZIP archive with a directory at its end");
  std::string damaged = fg::testing::file_content(golden_path("stored.npz"));
  damaged[damaged.find("\x93NUMPY") + 140] ^= 1;  // an element of x
  const scratch_file file(damaged);
  CHECK(file_problem([&] { fg::npz(file.path()).read<float, n, 3>("x"); }).find("check sum") != std::string::npos);
  CHECK_NOTHROW(fg::npz(file.path()).read<std::int64_t, n>("y"));
}
