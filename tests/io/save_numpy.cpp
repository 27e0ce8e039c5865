// Files that we write are those that NumPy writes, byte for byte: its own goldens, read and written again.
#include <flowgraph/formats/save_numpy.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <flowgraph/arrays/eigen.hpp>
#include <flowgraph/formats/npz.hpp>
#include <flowgraph/formats/zip_writer.hpp>

#include "scratch.hpp"

namespace fg = flowgraph;
using fg::testing::file_content;
using fg::testing::golden_path;

namespace {

inline constexpr fg::dim n{"n"};

template <class T, auto... E>
void check_again(const std::string& name) {
  CAPTURE(name);
  const fg::testing::scratch_directory scratch;
  fg::save_npy(scratch / "file", fg::read_npy<T, E...>(golden_path(name + ".npy")));
  CHECK(file_content(scratch / "file") == file_content(golden_path(name + ".npy")));
}

static_assert(!fg::npy_data<fg::ndarray<fg::bfloat16, 3>>);
static_assert(!fg::npy_data<std::vector<bool>>);

}  // namespace

TEST_CASE("save_npy writes what numpy.save writes") {
  check_again<float, n, 4>("float32");
  check_again<double, n>("float64");
  check_again<fg::half, 2, 2>("float16");
  check_again<std::int64_t>("int64_scalar");
  check_again<std::int64_t, n, 2>("int64");
  check_again<std::uint8_t, 2, 3>("uint8");
  check_again<std::int8_t, n>("int8");
  check_again<bool, n>("bool");
  check_again<float, n, 3>("empty");
}

TEST_CASE("save_npy takes whatever can be fed") {
  const fg::testing::scratch_directory scratch;
  fg::save_npy(scratch / "file", std::vector<float>{1, 2, 3});
  CHECK(fg::read_npy<float, n>(scratch / "file")(2) == 3);
  fg::save_npy(scratch / "file", 1.5f);
  CHECK(fg::read_npy<float>(scratch / "file")() == 1.5f);
  fg::save_npy(scratch / "file", std::array<std::array<float, 2>, 3>{{{1, 2}, {3, 4}, {5, 6}}});
  CHECK(fg::read_npy<float, 3, 2>(scratch / "file")(2, 1) == 6);
  Eigen::MatrixXf columns(2, 3);  // column by column in memory
  columns << 1, 2, 3, 4, 5, 6;
  fg::save_npy(scratch / "file", columns);
  CHECK(fg::read_npy<float, 2, 3>(scratch / "file")(1, 0) == 4);

  CHECK_THROWS_AS(fg::save_npy(scratch / "no/such/directory", 1.5f), fg::file_error);
}

TEST_CASE("save_npz writes what numpy.savez writes") {
  const fg::testing::scratch_directory scratch;
  const fg::npz stored(golden_path("stored.npz"));
  const auto x = stored.read<float, n, 3>("x");
  const auto y = stored.read<std::int64_t, n>("y");
  fg::save_npz(scratch / "file", {{"x", x}, {"y", y}});
  CHECK(file_content(scratch / "file") == file_content(golden_path("stored.npz")));

  fg::save_npz(scratch / "nothing", {});
  CHECK(fg::npz(scratch / "nothing").names().empty());
  CHECK_THROWS_AS(fg::save_npz(scratch / "file", {{"x", x}, {"x", y}}), fg::argument_error);
  CHECK_THROWS_AS(fg::save_npz(scratch / "file", {{"", x}}), fg::argument_error);
  CHECK_THROWS_AS(fg::save_npz(scratch / "file", {{std::string(1001, 'x'), x}}), fg::argument_error);
  CHECK(file_content(scratch / "file") == file_content(golden_path("stored.npz")));
}

// As if every number were too large for 32 bits.
TEST_CASE("save_npz: archives beyond 4 GB have fields of 64 bits") {
  const fg::testing::scratch_directory scratch;
  const std::vector<float> x{1, 2, 3};
  const std::vector<std::int64_t> y{4, 5};
  std::vector<fg::detail::zip_content> all;
  const auto add = [&](const std::string& name, const auto& array) {
    all.push_back({name + ".npy", fg::detail::npy_head(array.data), fg::detail::data_bytes(array.data)});
  };
  const fg::detail::lent<std::vector<float>> a(x);
  const fg::detail::lent<std::vector<std::int64_t>> b(y);
  add("x", a);
  add("y", b);
  for (const std::uint64_t limit : {0u, 200u}) {
    fg::detail::write_zip(scratch / "file", all, limit);
    const fg::npz file(scratch / "file");
    CHECK(file.names() == std::vector<std::string>{"x", "y"});
    CHECK(file.read<float, 3>("x")(2) == 3);
    CHECK(file.read<std::int64_t, 2>("y")(1) == 5);
  }
}
