// CSV files and lines of text.
#include <flowgraph/data/csv.hpp>
#include <flowgraph/data/lines.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "scratch.hpp"

namespace fg = flowgraph;
using fg::testing::file_problem;
using fg::testing::scratch_file;

namespace {

template <class... Columns>
std::string csv_problem(const std::string& content, const fg::csv_options& options = {}) {
  const scratch_file file(content);
  return file_problem([&] { fg::csv<Columns...>(file.path(), options); });
}

template <class Column>
Column only(const std::string& content) {
  const scratch_file file(content);
  for (auto value : fg::csv<Column>(file.path())) return value;
  throw std::runtime_error("no rows");
}

std::vector<std::string> lines_of(const std::string& content) {
  const scratch_file file(content);
  std::vector<std::string> all;
  for (auto line : fg::lines(file.path())) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("a CSV file becomes typed columns") {
  const scratch_file file("x,y,label,name\r\n1.5,-2,3,one\r\n\r\n4, 5e-1 ,-6,\"two, \"\"too\"\"\"\r\n");
  const auto data = fg::csv<fg::ndarray<float, 2>, std::int64_t, std::string>(file.path(), {.header = true});
  static_assert(
      std::same_as<decltype(data)::value_type, std::tuple<fg::ndview<const float, 2>, std::int64_t, std::string>>);
  CHECK(data.size() == 2);
  auto row = data.begin();
  {
    auto [xy, label, name] = *row;
    CHECK(xy(0) == 1.5f);
    CHECK(xy(1) == -2.0f);
    CHECK(label == 3);
    CHECK(name == "one");
  }
  {
    auto [xy, label, name] = *++row;
    CHECK(xy(0) == 4.0f);
    CHECK(xy(1) == 0.5f);
    CHECK(label == -6);
    CHECK(name == "two, \"too\"");
  }
}

TEST_CASE("fields of a CSV file") {
  CHECK(only<float>("\xEF\xBB\xBF+1e3") == 1000.0f);
  CHECK(only<double>("  0.1\t\n") == 0.1);
  CHECK(only<double>("inf") == std::numeric_limits<double>::infinity());
  CHECK(only<float>("-1e-60") == 0.0f);
  CHECK(only<std::uint8_t>("255") == 255);
  CHECK(only<bool>("true"));
  CHECK_FALSE(only<bool>("0"));
  CHECK(static_cast<float>(only<fg::half>("0.5")) == 0.5f);
  CHECK(static_cast<float>(only<fg::half>("65504")) == 65504.0f);
  CHECK(static_cast<float>(only<fg::half>("-65519")) == -65504.0f);
  CHECK(static_cast<float>(only<fg::half>("1e-30")) == 0.0f);
  CHECK(static_cast<float>(only<fg::half>("-inf")) == -std::numeric_limits<float>::infinity());
  CHECK(static_cast<float>(only<fg::bfloat16>("3.38e38")) > 3e38f);
  CHECK(only<std::string>("\"line\nand line\"\n") == "line\nand line");
  CHECK(only<std::int32_t>("\"12\"\n") == 12);

  const scratch_file file("1;2\n3;4");
  std::int64_t sum = 0;
  for (auto [a, b] : fg::csv<std::int64_t, std::int64_t>(file.path(), {.separator = ';'})) sum += a * b;
  CHECK(sum == 14);
  const scratch_file empty("");
  CHECK(fg::csv<float>(empty.path()).size() == 0);
}

TEST_CASE("a mistake in a CSV file is told with its line, and nothing is given") {
  CHECK(csv_problem<float, float>("1,2\n3\n") == ":2: expected 2 fields, got 1");
  CHECK(csv_problem<float, float>("1,2\n3,4,5\n") == ":2: expected 2 fields, got 3");
  CHECK(csv_problem<float, float>("1,2\n3,4,\n") == ":2: expected 2 fields, got 3");
  CHECK(csv_problem<float, float>("1,2\n\n3,four\n") == ":3: column 2: expected a number of type float, got \"four\"");
  CHECK(csv_problem<float, float>("1,\n") == ":1: column 2: expected a number of type float, got \"\"");
  CHECK(csv_problem<float>("1.5x\n") == ":1: column 1: expected a number of type float, got \"1.5x\"");
  CHECK(csv_problem<float>("+-1\n") == ":1: column 1: expected a number of type float, got \"+-1\"");
  CHECK(csv_problem<float>("1e99\n") == ":1: column 1: expected a number of type float, got \"1e99\"");
  CHECK(csv_problem<float>("1e99999\n") == ":1: column 1: expected a number of type float, got \"1e99999\"");
  CHECK(csv_problem<double>("1e999\n") == ":1: column 1: expected a number of type double, got \"1e999\"");
  CHECK(csv_problem<fg::half>("70000\n") == ":1: column 1: expected a number of type half, got \"70000\"");
  CHECK(csv_problem<fg::half>("-65520\n") == ":1: column 1: expected a number of type half, got \"-65520\"");
  CHECK(csv_problem<fg::half>("1e40\n") == ":1: column 1: expected a number of type half, got \"1e40\"");
  CHECK(csv_problem<fg::bfloat16>("3.4e38\n") == ":1: column 1: expected a number of type bfloat16, got \"3.4e38\"");
  CHECK(csv_problem<std::int32_t>("2147483648\n") ==
        ":1: column 1: expected a number of type int32, got \"2147483648\"");
  CHECK(csv_problem<std::int64_t>("9223372036854775808\n") ==
        ":1: column 1: expected a number of type int64, got \"9223372036854775808\"");
  CHECK(csv_problem<std::int8_t>("128\n") == ":1: column 1: expected a number of type int8, got \"128\"");
  CHECK(csv_problem<std::uint8_t>("-1\n") == ":1: column 1: expected a number of type uint8, got \"-1\"");
  CHECK(csv_problem<std::int64_t>("1.0\n") == ":1: column 1: expected a number of type int64, got \"1.0\"");
  CHECK(csv_problem<bool>("2\n") == ":1: column 1: expected a number of type bool, got \"2\"");
  CHECK(csv_problem<fg::ndarray<float, 2>, float>("1,2,3\n1,x,3") ==
        ":2: column 2: expected a number of type float, got \"x\"");
  CHECK(csv_problem<std::string>("a\n\"b\nc") ==
        ":2: expected a quotation mark that ends the field, got the end of the file");
  CHECK(csv_problem<std::string>("\"a\"b\n") == ":1: expected a separator after a quoted field, got 'b'");
  // A field of two lines counts as two.
  CHECK(csv_problem<std::string, float>("\"a\nb\",1\n\"c\",d\n").starts_with(":3: column 2"));
  CHECK(file_problem([] { fg::csv<float>("/no/such/file.csv"); }) == ": can't be opened");

  const scratch_file file("1\nx\n");
  try {
    fg::csv<float>(file.path());
    FAIL("not refused");
  } catch (const fg::file_error& e) {
    CHECK(e.file() == file.path().string());
    CHECK(e.line() == 2);
    CHECK(e.byte() == -1);
    CHECK(e.why() == fg::problem::file_malformed);
    const fg::file_error copy = e;
    CHECK(copy.file() == e.file());
  }
}

TEST_CASE("a CSV file that is cut off anywhere is read or refused") {
  const std::string whole = "1.5,\"a\"\"b\",3\n-2e-3,c,4\n";
  scratch_file file(whole);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    file.write(whole.substr(0, length));
    try {
      const auto rows = fg::csv<float, std::string, int>(file.path()).size();
      CHECK(rows <= 2);
    } catch (const fg::file_error& e) {
      CHECK(e.line() >= 1);
    }
  }
}

TEST_CASE("lines of a file, with and without an end to the last one") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("one") == std::vector<std::string>{"one"});
  CHECK(lines_of("one\n\ntwo\r\n") == std::vector<std::string>{"one", "", "two"});
  CHECK(lines_of(std::string("a\0b\n", 4)) == std::vector<std::string>{std::string("a\0b", 3)});
  CHECK(file_problem([] { fg::lines("/no/such/file.txt"); }) == ": can't be opened");
  CHECK(file_problem([] { fg::lines(fg::testing::golden_path("")); }) == ": can't be opened");

  const scratch_file file("3\n1\n2\n");
  const auto numbers = fg::lines(file.path()).map([](const std::string& s) { return std::stoi(s); });
  int sum = 0;
  for (int x : numbers.repeat(2).prefetch(2)) sum += x;
  CHECK(sum == 12);
}
