// One line tests how an op is written and read:
//
//   row<tensor<float, batch, 3>, tensor<float, 3, 4>>("matmul", [](auto a, auto b) { return matmul(a, b); });
//
// builds it on inputs of these types, runs it, exports it, imports that file and compares the numbers. Where
// FLOWGRAPH_ONNX_CASES names a directory, the file stays there beside its inputs and outputs, for run_onnxruntime.py to
// compare with those of onnxruntime.
#pragma once
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <flowgraph/language/graph.hpp>

#include "support/runner.hpp"

namespace flowgraph {
class onnx_model;
}

namespace flowgraph::testing {

// Where inputs lie; integers are whole numbers in it. Named extents are 2, or what `extents` says.
struct row_options {
  double low = -2, high = 2;
  std::vector<binding> extents{};
  double tolerance = 1e-5;
  bool imports = true;  // false: ONNX's own form of it is read back as another op, or not at all
};

class onnx_row {
 public:
  explicit onnx_row(std::string name, row_options o) : name_(std::move(name)), options_(std::move(o)) {}

  flowgraph::graph graph;

  template <class T, auto... E>
  tensor<T, E...> input(std::type_identity<tensor<T, E...>>) {
    const auto x = graph.placeholder<T, E...>("x" + std::to_string(inputs_.size()));
    inputs_.push_back(x.id);
    return x;
  }
  template <any_tensor T>
  void output(const T& t) {
    outputs_.push_back(t.id);
  }
  template <class... T>
  void output(const std::tuple<T...>& t) {
    std::apply([&](const auto&... each) { (output(each), ...); }, t);
  }
  template <class T, class U>
  void output(const std::pair<T, U>& t) {
    output(t.first);
    output(t.second);
  }
  template <class T, std::size_t N>
  void output(const std::array<T, N>& t) {
    for (const T& each : t) output(each);
  }
  // Makes doctest's assertions.
  void check();

 private:
  std::string name_;
  row_options options_;
  std::vector<int> inputs_, outputs_;
};

template <class... In, class F>
void row(const std::string& name, const F& f, const row_options& o = {}) {
  onnx_row r(name, o);
  if constexpr (sizeof...(In) == 0) {
    r.output(f(r.graph));
  } else {
    const std::tuple handles{r.input(std::type_identity<In>{})...};
    r.output(std::apply(f, handles));
  }
  r.check();
}

// All rows, a function for each file of export rules. Between them every rule is used: rows.cpp sees to that.
void elementwise_rows();
void array_rows();
void neural_rows();
void control_rows();
void sequence_rows();

// Numbers that differ, in an order that is not theirs. Integers are whole numbers below high.
typed_array numbers(dtype type, const std::vector<std::int64_t>& dims, double low, double high, int seed);

class scratch_directory;  // ../io/scratch.hpp

// Where a model lies with its inputs and outputs: below FLOWGRAPH_ONNX_CASES, or until the end of a test.
class case_directory {
 public:
  explicit case_directory(const std::string& name);
  ~case_directory();
  // As "input_0.pb", in the form of ONNX's own test data.
  void write(const std::string& kind, std::size_t i, const std::string& name, const typed_array& a) const;

  std::filesystem::path path;

 private:
  std::unique_ptr<scratch_directory> scratch_;
};
typed_array read_tensor(const std::filesystem::path& path);

// Makes doctest's assertions.
void compare(const std::string& what, const fetched_array& got, const fetched_array& expected, double tolerance);
fetched_array as_fetched(const typed_array& a);

// All of "input_0.pb", "input_1.pb" and so on.
std::vector<typed_array> tensors(const std::filesystem::path& directory, const std::string& kind);

// What an imported model gives, and is fed: the inputs, which outlive this, that an output needs.
struct fed_nodes {
  std::vector<int> fetches, feeds;
  std::vector<fgd::borrowed> data;
};
fed_nodes nodes_of(onnx_model& m, const std::vector<typed_array>& inputs);
// The outputs of an imported model.
std::vector<fetched_array> run_model(const std::filesystem::path& file, const std::vector<typed_array>& inputs);

}  // namespace flowgraph::testing
