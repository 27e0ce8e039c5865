#include "op_rows.hpp"

#include <cmath>
#include <cstring>
#include <sstream>

#include <doctest/doctest.h>

#include <flowgraph/ops/arithmetic.hpp>
#include <flowgraph/passes/gradient.hpp>

#include "runner.hpp"

namespace flowgraph::testing::detail {

namespace {

dtype dtype_named(const std::string& text) {
  static const std::map<std::string, dtype> names{
      {"f16", dtype::float16}, {"bf16", dtype::bfloat16}, {"f32", dtype::float32},
      {"f64", dtype::float64}, {"i8", dtype::int8},       {"u8", dtype::uint8},
      {"i32", dtype::int32},   {"i64", dtype::int64},     {"bool", dtype::boolean}};
  return names.at(text);
}

struct tolerance_of {
  double relative, absolute;
};
tolerance_of tolerance_for(dtype t) {
  switch (t) {
    case dtype::float16:
      return {4e-3, 4e-3};
    case dtype::bfloat16:
      return {3e-2, 3e-2};
    case dtype::float32:
      return {1e-5, 2e-6};
    case dtype::float64:
      return {1e-10, 1e-11};
    default:
      return {0, 0};
  }
}

const session_options one_thread{.threads = 1, .seed = 1};
const session_options two_threads{.threads = 2, .seed = 1, .inter_op = inter_op_policy::parallel};

bool near(double a, double b, const tolerance_of& t, double scale) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= t.relative * std::abs(b) + t.absolute * std::max(1.0, scale);
}

std::string text(const std::vector<std::int64_t>& dims) {
  std::string s = "[";
  for (const auto d : dims) s += (s.size() > 1 ? ", " : "") + std::to_string(d);
  return s + "]";
}

void compare(const std::string& what, const fetched_array& got, const std::vector<std::int64_t>& dims,
             const std::vector<double>& expected, tolerance_of t) {
  CHECK_MESSAGE(got.dims == dims, what, ": extents are ", text(got.dims), ", expected ", text(dims));
  if (got.values.size() != expected.size()) return;
  double scale = 0;
  for (const double v : expected)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  int wrong = 0;
  std::ostringstream first;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!near(got.values[i], expected[i], t, scale) && wrong++ == 0)
      first << "element " << i << " is " << got.values[i] << ", expected " << expected[i];
  CHECK_MESSAGE(wrong == 0, what, ": ", wrong, " of ", expected.size(), " differ; ", first.str());
}

bool same_numbers(const std::vector<fetched_array>& a, const std::vector<fetched_array>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i)
    same = a[i].values.size() == b[i].values.size() &&
           (a[i].values.empty() ||
            std::memcmp(a[i].values.data(), b[i].values.data(), a[i].values.size() * sizeof(double)) == 0);
  return same;
}

// sum(y * weight), where weight is a new placeholder.
int append_loss(graph_data& g, int y, int& weight) {
  weight = g.append(op_def_of<ops::placeholder>, g.nodes[y].shape, g.nodes[y].type, nullptr, 0);
  const ref product = emit<ops::mul>(ref{&g, y}, ref{&g, weight});
  const int rank = g.shapes[g.nodes[y].shape].rank;
  if (rank == 0) return product.id;
  return emit<ops::reduce_sum>({.axes = (std::int64_t{1} << rank) - 1, .keep = 0}, product).id;
}

struct prepared_inputs {
  std::vector<int> ids;
  std::vector<typed_array> arrays;

  // Of the types that the graph's nodes have.
  prepared_inputs(const golden_case& c, const graph_data& g, const built_op& b) {
    REQUIRE_MESSAGE(c.in.size() == b.inputs.size(), c.name, ": the row has ", b.inputs.size(), " inputs, the golden ",
                    c.in.size());
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      ids.push_back(b.inputs[i]);
      arrays.emplace_back(g.nodes[b.inputs[i]].type, c.in[i].dims, c.in[i].values);
    }
  }
  std::vector<fgd::borrowed> borrow() const {
    std::vector<fgd::borrowed> all;
    for (const typed_array& a : arrays) all.push_back(a.borrow());
    return all;
  }
};

int weighted_output(const golden_case& c) { return static_cast<int>(c.integer_or("weight_output", 0)); }

}  // namespace

void check_values(const golden_case& c, graph_data& g, const built_op& b, double tolerance) {
  INFO("case ", c.name);
  prepared_inputs in(c, g, b);
  for (std::size_t i = 0; i < c.in.size(); ++i)
    CHECK_MESSAGE(in.arrays[i].type == dtype_named(c.in[i].dtype), "input ", i, " is ", c.in[i].dtype,
                  " in the golden");
  REQUIRE_MESSAGE(c.out.size() == b.outputs.size(), "the row has ", b.outputs.size(), " outputs, the golden ",
                  c.out.size());
  std::vector<int> fetches = b.outputs;
  std::vector<int> xs, derivatives(c.grads.size());
  if (!c.grads.empty()) {
    int weight = -1;
    const int loss = append_loss(g, b.outputs[static_cast<std::size_t>(weighted_output(c))], weight);
    for (const auto& [i, grad] : c.grads) xs.push_back(b.inputs[static_cast<std::size_t>(i)]);
    passes::gradient(g, loss, xs.data(), static_cast<int>(xs.size()), derivatives.data());
    fetches.insert(fetches.end(), derivatives.begin(), derivatives.end());
    in.ids.push_back(weight);
    in.arrays.emplace_back(g.nodes[weight].type, c.weight->dims, c.weight->values);
  }
  // An input that no fetch needs (zeros_like) is left out.
  std::vector<int> feeds;
  std::vector<fgd::borrowed> data;
  const std::vector<fgd::borrowed> all = in.borrow();
  for (std::size_t i = 0; i < in.ids.size(); ++i) {
    const int probe[] = {in.ids[i]};
    const plan_fault fault =
        passes::prune(g.view(), {{fetches.data(), static_cast<int>(fetches.size())}, {probe, 1}}).fault;
    if (fault.why == problem::fed_in_vain) continue;
    feeds.push_back(in.ids[i]);
    data.push_back(all[i]);
  }
  runner serial(g, fetches, feeds, one_thread), parallel(g, fetches, feeds, two_threads);
  const std::vector<fetched_array> got = serial.run(data);
  CHECK_MESSAGE(same_numbers(got, parallel.run(data)), "two threads give other numbers than one");
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    CHECK_MESSAGE(got[k].type == dtype_named(c.out[k].dtype), "output ", k, " is ", c.out[k].dtype, " in the golden");
    tolerance_of t = tolerance_for(got[k].type);
    if (tolerance > 0) t.relative = t.absolute = tolerance;
    compare("output " + std::to_string(k), got[k], c.out[k].dims, c.out[k].values, t);
  }
  for (std::size_t k = 0; k < c.grads.size(); ++k) {
    const fetched_array& d = got[c.out.size() + k];
    tolerance_of t = tolerance_for(d.type);
    t.absolute *= 4;  // a gradient is longer than its op
    t.relative *= 4;
    if (tolerance > 0) t.relative = t.absolute = tolerance;
    compare("gradient " + std::to_string(c.grads[k].first), d, c.grads[k].second.dims, c.grads[k].second.values, t);
  }
}

void check_differences(const golden_case& c, graph_data& g, const built_op& b) {
  INFO("case ", c.name, ", in double");
  prepared_inputs in(c, g, b);
  int weight = -1;
  const int loss = append_loss(g, b.outputs[static_cast<std::size_t>(weighted_output(c))], weight);
  std::vector<int> xs, derivatives(c.grads.size());
  for (const auto& [i, grad] : c.grads) xs.push_back(b.inputs[static_cast<std::size_t>(i)]);
  passes::gradient(g, loss, xs.data(), static_cast<int>(xs.size()), derivatives.data());
  std::vector<int> feeds = in.ids;
  feeds.push_back(weight);
  in.arrays.emplace_back(g.nodes[weight].type, c.weight->dims, c.weight->values);
  std::vector<int> fetches{loss};
  fetches.insert(fetches.end(), derivatives.begin(), derivatives.end());
  // The loss is fetched with the derivatives, so that every input is needed.
  runner with_gradients(g, fetches, feeds, one_thread), forward(g, {loss}, feeds, one_thread);
  const std::vector<fetched_array> got = with_gradients.run(in.borrow());
  constexpr double h = 1e-5;
  for (std::size_t k = 0; k < c.grads.size(); ++k) {
    auto* x = reinterpret_cast<double*>(in.arrays[static_cast<std::size_t>(c.grads[k].first)].memory.data());
    std::vector<double> expected;
    for (std::size_t i = 0; i < c.grads[k].second.values.size(); ++i) {
      const double at = x[i];
      x[i] = at + h;
      const double above = forward.run(in.borrow())[0].values[0];
      x[i] = at - h;
      const double below = forward.run(in.borrow())[0].values[0];
      x[i] = at;
      expected.push_back((above - below) / (2 * h));
    }
    compare("central differences of input " + std::to_string(c.grads[k].first), got[k + 1], c.grads[k].second.dims,
            expected, {2e-6, 2e-6});
  }
}

void check_state(const golden_case& c, graph_data& g, const built_op& b) {
  INFO("case ", c.name);
  prepared_inputs in(c, g, b);
  const std::vector<int> feeds(in.ids.begin() + 1, in.ids.end());
  std::vector<fgd::borrowed> data = in.borrow();
  runner r(g, b.outputs, feeds, one_thread);
  fgd::write_variable(r.engine(), g.view(), in.ids[0], data[0]);
  data.erase(data.begin());
  r.run(data);
  fetched_array after;
  fgd::read_variable(r.engine(), g.view(), in.ids[0], [&](const array_view& v) { after = fetch(v); });
  compare("the variable", after, c.out[0].dims, c.out[0].values, tolerance_for(after.type));
}

}  // namespace flowgraph::testing::detail
