// Arrays print as NumPy prints them: tests/golden/print.txt is what it said.
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <flowgraph/arrays/print_with_fmt.hpp>

#include <flowgraph/checkpoint.hpp>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/test_file.hpp"

namespace fg = flowgraph;

namespace {

constexpr fg::dim batch{"batch"};
constexpr fg::dim rows{"rows"};
constexpr fg::dim columns{"columns"};

struct printed {
  std::string line, type, text;
  std::vector<std::int64_t> dims;
  std::vector<double> values;
};

std::vector<printed> read_cases() {
  std::ifstream file(fg::testing::test_file("golden/print.txt"));
  REQUIRE(file.good());
  std::vector<printed> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("array ")) {
      printed p;
      p.line = line;
      std::istringstream words(line.substr(6));
      std::string word;
      words >> p.type;
      std::size_t n = 1;
      while (words >> word && word != ":") {
        p.dims.push_back(std::stol(word));
        n *= static_cast<std::size_t>(p.dims.back());
      }
      while (words >> word) {
        if (word == "range") {
          double start = 0, step = 0;
          words >> start >> step;
          for (std::size_t i = 0; i < n; ++i) p.values.push_back(start + step * static_cast<double>(i));
        } else {
          p.values.push_back(std::stod(word));
        }
      }
      REQUIRE(p.values.size() == n);
      cases.push_back(p);
    } else if (line.starts_with("| ")) {
      cases.back().text += (cases.back().text.empty() ? "" : "\n") + line.substr(2);
    }
  }
  return cases;
}

template <class T>
std::string print(const printed& p) {
  fg::ndarray<T, batch> all(batch(static_cast<std::int64_t>(p.values.size())));
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    if constexpr (std::is_same_v<T, fg::half>)
      all.data()[i] = fg::half(static_cast<float>(p.values[i]));
    else
      all.data()[i] = static_cast<T>(p.values[i]);
  }
  const T* data = all.data();
  switch (p.dims.size()) {
    case 0:
      return fmt::format("{}", fg::ndview<const T>(data));
    case 1:
      return fmt::format("{}", all);
    case 2:
      return fmt::format("{}", fg::ndview<const T, batch, rows>(data, {p.dims[0], p.dims[1]}));
    default:
      return fmt::format("{}", fg::ndview<const T, batch, rows, columns>(data, {p.dims[0], p.dims[1], p.dims[2]}));
  }
}

}  // namespace

TEST_CASE("arrays print as NumPy's do") {
  const std::map<std::string, std::string (*)(const printed&)> by_type{
      {"f16", print<fg::half>},     {"f32", print<float>},       {"f64", print<double>},
      {"i8", print<std::int8_t>},   {"u8", print<std::uint8_t>}, {"i32", print<std::int32_t>},
      {"i64", print<std::int64_t>}, {"bool", print<bool>}};
  const std::vector<printed> cases = read_cases();
  CHECK(cases.size() > 120);
  for (const printed& p : cases) {
    CAPTURE(p.line);
    CHECK(by_type.at(p.type)(p) == p.text);
  }
}

TEST_CASE("a bfloat16 has the digits that tell it from its neighbours") {
  const auto bf = [](float x) { return fg::bfloat16(x); };
  CHECK(fmt::format("{}", fg::ndarray<fg::bfloat16, 3>{bf(0.1f), bf(1), bf(3.140625f)}) == "[0.1  1.   3.14]");
  CHECK(fmt::format("{}", fg::ndarray<fg::bfloat16, 2>{bf(1e30f), bf(-1)}) == "[ 1.e+30 -1.e+00]");
  CHECK(fmt::format("{}", fg::ndarray<fg::bfloat16>(bf(0.3f))) == "0.3");
}

TEST_CASE("a format is that of the elements") {
  CHECK(fmt::format("{:.2f}", fg::ndarray<double, 2>{1, 2.345}) == "[1.00 2.35]");
  CHECK(fmt::format("{:.1f}", fg::ndarray<float, 2, 2>{{1, 20}, {3, 4}}) == "[[ 1.0 20.0]\n [ 3.0  4.0]]");
  CHECK(fmt::format("{:x}", fg::ndarray<std::uint8_t, 2>{7, 255}) == "[ 7 ff]");
  CHECK(fmt::format("{:.3f}", fg::ndarray<float>(1.5f)) == "1.500");
  CHECK(fmt::format("{:+.1f}", fg::ndarray<fg::half, 1>{fg::half(0.5f)}) == "[+0.5]");
}

TEST_CASE("streams print the same") {
  std::ostringstream out;
  const fg::ndarray<int, 2, 2> a{{1, 2}, {3, 4}};
  out << a << a[1];
  CHECK(out.str() == "[[1 2]\n [3 4]][3 4]");
}

TEST_CASE("fmt has one way to print an array, whatever of it is included") {
  const fg::ndarray<float, 2> a{1.0f, 2.5f};
  CHECK(fmt::format("{}", a) == "[1.  2.5]");
  CHECK(fmt::format("{:.2f}", a.view()) == "[1.00 2.50]");
  CHECK(fmt::format("{}", std::vector<int>{1, 2}) == "[1, 2]");
}
