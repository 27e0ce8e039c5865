// One line tests an op against the referees:
//
//   const op_rows rows("matrix");  // tests/golden/ops/matrix.txt
//   rows.row<tensor<float, 2, 3>, tensor<float, 3, 4>>("matmul_plain", [](auto a, auto b) { return matmul(a, b); });
//
// builds the op on inputs of these types, runs it on the golden's inputs, and compares every value and every gradient
// of sum(y * weight) with the golden, on one thread and on two. The op is then built again with double in place of
// every floating-point element type, and its gradients are compared with central differences.
#pragma once
#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <flowgraph/language/graph.hpp>

#include "golden.hpp"
#include "test_file.hpp"

namespace flowgraph::testing {

namespace detail {

// The op under test in a graph.
struct built_op {
  std::vector<int> inputs;
  std::vector<int> outputs;
};

template <class T>
struct in_double;
template <class T, auto... E>
struct in_double<tensor<T, E...>> {
  using type = tensor<std::conditional_t<is_floating(flowgraph::detail::dtype_of<T>), double, T>, E...>;
};

// Results: a tensor, or several in a tuple, pair or array.
template <any_tensor T>
void collect(const T& t, std::vector<int>& ids) {
  ids.push_back(t.id);
}
template <class... T>
void collect(const std::tuple<T...>& t, std::vector<int>& ids) {
  std::apply([&](const auto&... each) { (collect(each, ids), ...); }, t);
}
template <class T, class U>
void collect(const std::pair<T, U>& t, std::vector<int>& ids) {
  collect(t.first, ids);
  collect(t.second, ids);
}
template <class T, std::size_t N>
void collect(const std::array<T, N>& t, std::vector<int>& ids) {
  for (const T& each : t) collect(each, ids);
}

template <class T, auto... E>
tensor<T, E...> input(graph& g, std::type_identity<tensor<T, E...>>) {
  return g.placeholder<T, E...>("input" + std::to_string(g.data().nodes.size()));
}
template <class T, auto... E>
variable<T, E...> state(graph& g, std::type_identity<tensor<T, E...>>) {
  return g.variable<T, E...>("variable");
}

template <class... In, class F>
built_op build(graph& g, const F& f) {
  built_op b;
  if constexpr (sizeof...(In) == 0) {
    collect(f(g), b.outputs);
  } else {
    const std::tuple handles{input(g, std::type_identity<In>{})...};
    collect(handles, b.inputs);
    collect(std::apply(f, handles), b.outputs);
  }
  return b;
}

// These three make doctest's assertions.
void check_values(const golden_case& c, graph_data& g, const built_op& b, double tolerance);
void check_differences(const golden_case& c, graph_data& g, const built_op& b);
void check_state(const golden_case& c, graph_data& g, const built_op& b);

}  // namespace detail

class op_rows {
 public:
  explicit op_rows(const std::string& family)
      : family_(family),
        cases_(read_goldens(test_file("golden/ops/" + std::string(family) + ".txt"))) {}

  // tolerance: relative; 0 is that of the result's element type. Without inputs the function gets the graph.
  template <class... In, class F>
  void row(const std::string& name, const F& f, double tolerance = 0) const {
    row_as_is<In...>(name, f, tolerance);
    if (at(name).grads.empty()) return;
    graph g;
    const detail::built_op b = detail::build<typename detail::in_double<In>::type...>(g, f);
    detail::check_differences(at(name), g.data(), b);
  }

  // Without central differences: for functions that name an element type themselves.
  template <class... In, class F>
  void row_as_is(const std::string& name, const F& f, double tolerance = 0) const {
    graph g;
    const detail::built_op b = detail::build<In...>(g, f);
    detail::check_values(at(name), g.data(), b, tolerance);
  }

  // The first input is a variable, f an operation that changes it; the golden's output is its value afterwards:
  //   rows.state_row<tensor<float, 2, 3>, tensor<float, 2, 3>>("assign", [](auto v, auto x) { return assign(v, x); });
  template <class Variable, class... In, class F>
  void state_row(const std::string& name, const F& f) const {
    graph g;
    detail::built_op b;
    const auto v = detail::state(g, std::type_identity<Variable>{});
    const std::tuple handles{detail::input(g, std::type_identity<In>{})...};
    b.inputs.push_back(v.id);
    detail::collect(handles, b.inputs);
    const operation o = std::apply([&](const auto&... in) { return f(v, in...); }, handles);
    b.outputs.push_back(o.id);
    detail::check_state(at(name), g.data(), b);
  }

  const golden_case& at(const std::string& name) const {
    for (const golden_case& c : cases_)
      if (c.name == name) return c;
    throw std::out_of_range("tests/golden/ops/" + family_ + ".txt has no case " + name);
  }
  const std::vector<golden_case>& cases() const { return cases_; }

 private:
  std::string family_;
  std::vector<golden_case> cases_;
};

}  // namespace flowgraph::testing
