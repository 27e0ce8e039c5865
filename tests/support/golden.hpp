// Reads the golden text files under tests/golden: cases with inputs, expected outputs and expected gradients.
// Standard library only, so that tests, benchmarks and tools can share it. tests/referee/README.md has the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flowgraph::testing {

// Row-major. Every dtype used in the files fits a double exactly, except f64 itself, which is a double.
struct golden_array {
  std::string dtype;               // f16 bf16 f32 f64 i8 u8 i32 i64 u32 bool
  std::vector<std::int64_t> dims;  // empty for a scalar
  std::vector<double> values;      // product of dims many

  template <class T>
  std::vector<T> as() const {
    std::vector<T> result;
    result.reserve(values.size());
    for (double v : values) result.push_back(static_cast<T>(v));
    return result;
  }
};

struct golden_case {
  std::string name, op;
  std::map<std::string, std::string> attrs;
  std::vector<golden_array> in, out;
  std::optional<golden_array> weight;               // w of sum(out * w), which grads differentiates
  std::vector<std::pair<int, golden_array>> grads;  // (index into in, gradient)

  bool has(const std::string& attr) const { return attrs.count(attr) != 0; }

  const std::string& text(const std::string& attr) const {
    auto found = attrs.find(attr);
    if (found == attrs.end())
      throw std::out_of_range("golden case " + name + " (" + op + ") has no attribute \"" + attr + "\"");
    return found->second;
  }

  std::vector<std::int64_t> integers(const std::string& attr) const {  // the empty list is written "none"
    std::istringstream words(text(attr));
    std::vector<std::int64_t> result;
    if (text(attr) == "none") return result;
    for (std::int64_t v; words >> v;) result.push_back(v);
    if (!words.eof())
      throw std::invalid_argument("golden case " + name + ": attribute " + attr + " is \"" + text(attr) +
                                  "\", not a list of integers");
    return result;
  }

  std::int64_t integer(const std::string& attr) const {
    auto list = integers(attr);
    if (list.size() != 1)
      throw std::invalid_argument("golden case " + name + ": attribute " + attr + " is \"" + text(attr) +
                                  "\", not one integer");
    return list.front();
  }
  std::int64_t integer_or(const std::string& attr, std::int64_t otherwise) const {
    return has(attr) ? integer(attr) : otherwise;
  }
  bool flag(const std::string& attr) const { return integer_or(attr, 0) != 0; }  // absent means false

  double number(const std::string& attr) const {
    const std::string& word = text(attr);
    char* end = nullptr;
    double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0')
      throw std::invalid_argument("golden case " + name + ": attribute " + attr + " is \"" + word + "\", not a number");
    return value;
  }
};

// what() is "file:line: what is wrong"
struct golden_error : std::runtime_error {
  golden_error(std::string_view file, int line, const std::string& what)
      : std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + what) {}
};

namespace detail {

class golden_reader {
 public:
  golden_reader(std::istream& stream, std::string_view file) : stream_(stream), file_(file) {}

  std::vector<golden_case> read() {
    std::vector<golden_case> cases;
    std::set<std::string> names;
    while (next_line()) {
      std::string keyword = word();
      if (keyword != "case") fail("expected \"case\", found \"" + keyword + "\"");
      golden_case c;
      c.name = word("a case name");
      end_of_line();
      if (!names.insert(c.name).second) fail("case " + c.name + " appears twice");
      read_body(c);
      cases.push_back(std::move(c));
    }
    return cases;
  }

 private:
  void read_body(golden_case& c) {
    const int opened = line_;
    while (next_line()) {
      std::string keyword = word();
      if (keyword == "end") {
        end_of_line();
        finish(c);
        return;
      }
      if (keyword == "op") {
        if (!c.op.empty()) fail("case " + c.name + " has a second op");
        c.op = word("an op name");
        end_of_line();
      } else if (keyword == "attr") {
        std::string key = word("an attribute name");
        words_ >> std::ws;
        std::string value;
        std::getline(words_, value);
        if (value.empty()) fail("attribute " + key + " has no value");
        if (!c.attrs.emplace(key, value).second) fail("attribute " + key + " appears twice in case " + c.name);
      } else if (keyword == "in") {
        c.in.push_back(array());
      } else if (keyword == "out") {
        c.out.push_back(array());
      } else if (keyword == "weight") {
        if (c.weight) fail("case " + c.name + " has a second weight");
        c.weight = array();
      } else if (keyword == "grad") {
        std::string index = word("the index of an input");
        if (!is_digits(index)) fail("expected the index of an input, found \"" + index + "\"");
        std::size_t at = to_index(index);
        if (at >= c.in.size())
          fail("gradient of input " + index + ", but case " + c.name + " has " + std::to_string(c.in.size()) +
               " inputs");
        golden_array g = array();
        if (g.dims != c.in[at].dims) fail("gradient of input " + index + " has other dims than the input");
        c.grads.emplace_back(static_cast<int>(at), std::move(g));
      } else {
        fail("unknown keyword \"" + keyword + "\" in case " + c.name);
      }
    }
    throw golden_error(file_, opened, "case " + c.name + " has no \"end\"");
  }

  void finish(const golden_case& c) {
    if (c.op.empty()) fail("case " + c.name + " has no op");
    if (c.out.empty()) fail("case " + c.name + " has no out");
    if (c.weight.has_value() != !c.grads.empty())
      fail("case " + c.name + " has " + (c.weight ? "a weight but no grad" : "a grad but no weight"));
  }

  // dtype dim... : value...
  golden_array array() {
    static const std::set<std::string> dtypes{"f16", "bf16", "f32", "f64", "i8", "u8", "i32", "i64", "u32", "bool"};
    golden_array a;
    a.dtype = word("a dtype");
    if (dtypes.count(a.dtype) == 0) fail("unknown dtype \"" + a.dtype + "\"");
    std::size_t count = 1;
    for (std::string w = word("\":\""); w != ":"; w = word("\":\"")) {
      if (!is_digits(w)) fail("expected an extent or \":\", found \"" + w + "\"");
      std::size_t extent = to_index(w);
      a.dims.push_back(static_cast<std::int64_t>(extent));
      count *= extent;
    }
    a.values.reserve(count);
    for (std::string w; words_ >> w;) a.values.push_back(value(w));
    if (a.values.size() != count)
      fail("expected " + std::to_string(count) + " values, found " + std::to_string(a.values.size()));
    return a;
  }

  double value(const std::string& w) {
    char* end = nullptr;
    double v = std::strtod(w.c_str(), &end);  // also reads inf, -inf and nan
    if (end == w.c_str() || *end != '\0') fail("expected a number, found \"" + w + "\"");
    return v;
  }

  static bool is_digits(const std::string& w) {
    if (w.empty() || w.size() > 9) return false;
    for (char ch : w)
      if (ch < '0' || ch > '9') return false;
    return true;
  }
  static std::size_t to_index(const std::string& digits) { return static_cast<std::size_t>(std::stoul(digits)); }

  bool next_line() {  // to the next line that says something
    for (std::string line; std::getline(stream_, line);) {
      ++line_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      std::size_t first = line.find_first_not_of(" \t");
      if (first == std::string::npos || line[first] == '#') continue;
      words_.clear();
      words_.str(line);
      return true;
    }
    if (stream_.bad()) fail("reading failed");
    return false;
  }

  std::string word(const char* expected = "a keyword") {
    std::string w;
    if (!(words_ >> w)) fail(std::string("expected ") + expected + ", found the end of the line");
    return w;
  }

  void end_of_line() {
    std::string w;
    if (words_ >> w) fail("expected the end of the line, found \"" + w + "\"");
  }

  [[noreturn]] void fail(const std::string& what) const { throw golden_error(file_, line_, what); }

  std::istream& stream_;
  std::string file_;
  std::istringstream words_;
  int line_ = 0;
};

}  // namespace detail

// file only names the stream in errors.
inline std::vector<golden_case> read_goldens(std::istream& stream, std::string_view file) {
  return detail::golden_reader(stream, file).read();
}

inline std::vector<golden_case> read_goldens(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw golden_error(path, 0, "cannot be opened");
  return read_goldens(stream, path);
}

}  // namespace flowgraph::testing
