#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>

#include <doctest/doctest.h>

#include <flowgraph/onnx.hpp>
#include <flowgraph/onnx/decode.hpp>
#include <flowgraph/onnx/encode.hpp>
#include <flowgraph/onnx/exporter.hpp>

#include "../io/scratch.hpp"

namespace flowgraph::testing {

namespace {

const session_options one_thread{.threads = 1, .seed = 1};
std::set<std::uint64_t> exported;  // ops that a row had

}  // namespace

typed_array numbers(dtype type, const std::vector<std::int64_t>& dims, double low, double high, int seed) {
  std::size_t count = 1;
  for (const std::int64_t d : dims) count *= static_cast<std::size_t>(d);
  std::vector<double> values(count);
  std::uint32_t state = 12345u + 977u * static_cast<std::uint32_t>(seed);
  for (double& v : values) {
    state = state * 1664525u + 1013904223u;
    const double unit = static_cast<double>(state >> 8) / static_cast<double>(1u << 24);
    v = low + unit * (high - low);
    if (!is_floating(type)) v = std::floor(v);
    if (type == dtype::boolean) v = unit < 0.5;
  }
  return {type, dims, values};
}

typed_array read_tensor(const std::filesystem::path& path) {
  const std::string bytes = file_content(path), name = path.string();
  fgd::memory_budget budget(name, {}, bytes.size());
  const onnx::tensor_proto t = onnx::decoder::decode_tensor(path, bytes, budget);
  typed_array a(t.type(), t.dims, std::vector<double>(static_cast<std::size_t>(onnx::count_elements(t.dims))));
  std::memcpy(a.memory.data(), t.data.data(), t.data.size());
  return a;
}
case_directory::case_directory(const std::string& name) {
  const char* kept = std::getenv("FLOWGRAPH_ONNX_CASES");
  if (kept == nullptr) scratch_ = std::make_unique<scratch_directory>();
  path = (kept != nullptr ? std::filesystem::path(kept) : scratch_->path()) / name;
  std::filesystem::create_directories(path);
}
case_directory::~case_directory() = default;
void case_directory::write(const std::string& kind, std::size_t i, const std::string& name,
                           const typed_array& a) const {
  onnx::tensor_proto t{name, onnx::code_of(a.type), a.dims, ""};
  t.data.assign(reinterpret_cast<const char*>(a.memory.data()), static_cast<std::size_t>(a.count * size_of(a.type)));
  put_content(path / (kind + "_" + std::to_string(i) + ".pb"), onnx::encoder::encode(t));
}
fetched_array as_fetched(const typed_array& a) {
  return fetch({const_cast<double*>(a.memory.data()), a.dims.data(), static_cast<int>(a.dims.size()), a.type});
}

void compare(const std::string& what, const fetched_array& got, const fetched_array& expected, double tolerance) {
  CHECK_MESSAGE(got.type == expected.type, what, ": the element types differ");
  CHECK_MESSAGE(got.dims == expected.dims, what, ": the extents differ");
  if (got.values.size() != expected.values.size()) return;
  int wrong = 0;
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const double a = got.values[i], b = expected.values[i];
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * (1 + std::abs(b));
    if (!same && wrong++ == 0) MESSAGE(what, ": element ", i, " is ", a, ", expected ", b);
  }
  CHECK_MESSAGE(wrong == 0, what, ": ", wrong, " of ", got.values.size(), " differ");
}

fed_nodes nodes_of(onnx_model& m, const std::vector<typed_array>& inputs) {
  const graph_view g = m.graph().view();
  REQUIRE(m.inputs().size() == inputs.size());
  fed_nodes all;
  for (const onnx_value& v : m.outputs()) all.fetches.push_back(g.find(v.name));
  // An input that no output needs, such as one whose extents alone are asked for, is not fed.
  const passes::draft needed = passes::prune(g, {{all.fetches.data(), static_cast<int>(all.fetches.size())}, {}}, true);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int id = g.find(m.inputs()[i].name);
    if (std::find(needed.model.begin(), needed.model.end(), id) == needed.model.end()) continue;
    all.feeds.push_back(id);
    all.data.push_back(inputs[i].borrow());
  }
  return all;
}
std::vector<typed_array> tensors(const std::filesystem::path& directory, const std::string& kind) {
  std::vector<typed_array> all;
  for (int k = 0;; ++k) {
    const std::filesystem::path path = directory / (kind + "_" + std::to_string(k) + ".pb");
    if (!std::filesystem::exists(path)) return all;
    all.push_back(read_tensor(path));
  }
}

std::vector<fetched_array> run_model(const std::filesystem::path& file, const std::vector<typed_array>& inputs) {
  onnx_model m = import_onnx(file);
  const fed_nodes n = nodes_of(m, inputs);
  return runner(m.graph().data(), n.fetches, n.feeds, one_thread).run(n.data);
}

TEST_CASE("onnx: every op that has a form is written and read back to the same numbers") {
  elementwise_rows();
  array_rows();
  neural_rows();
  control_rows();
  sequence_rows();
  for (const auto& rules :
       {std::span<const onnx::export_rule>(onnx::elementwise_rules),
        std::span<const onnx::export_rule>(onnx::array_rules), std::span<const onnx::export_rule>(onnx::neural_rules)})
    for (std::size_t i = 0; i < rules.size(); ++i)
      CHECK_MESSAGE(exported.contains(rules[i].op), "rule ", i, " of ", rules.size(), " has no row");
}

void onnx_row::check() {
  INFO("row ", name_);
  const graph_view g = graph.view();
  for (const node& n : g.nodes) exported.insert(n.op->id);
  std::vector<typed_array> arrays;
  std::vector<fgd::borrowed> data;
  for (const int id : inputs_) {
    std::vector<std::int64_t> dims;
    const extents e = g.shape_of(id);
    for (int i = 0; i < e.rank; ++i) {
      const auto lookup = [&](std::string_view name) {
        for (const binding& b : options_.extents)
          if (b.name == name) return b.value;
        return std::int64_t{2};
      };
      dims.push_back(e[i] >= 0 ? e[i] : fgd::evaluate_extent(g.symbol_text(e[i]), lookup));
    }
    arrays.push_back(numbers(g.nodes[id].type, dims, options_.low, options_.high, static_cast<int>(arrays.size())));
  }
  for (const typed_array& a : arrays) data.push_back(a.borrow());
  const std::vector<fetched_array> expected = runner(graph.data(), outputs_, inputs_, one_thread).run(data);

  const case_directory place(name_);
  const std::filesystem::path& directory = place.path;
  std::vector<onnx::named_tensor> fetches;
  for (const int id : outputs_) fetches.push_back({id, "y" + std::to_string(fetches.size())});
  dynamic_session s(graph, one_thread);
  onnx::export_session(s, directory / "model.onnx", {fetches});
  for (std::size_t i = 0; i < arrays.size(); ++i) place.write("input", i, "x" + std::to_string(i), arrays[i]);
  for (std::size_t i = 0; i < expected.size(); ++i)
    place.write("output", i, "y" + std::to_string(i), {expected[i].type, expected[i].dims, expected[i].values});
  if (!options_.imports) return;
  const std::vector<fetched_array> again = run_model(directory / "model.onnx", arrays);
  REQUIRE(again.size() == expected.size());
  for (std::size_t i = 0; i < again.size(); ++i)
    compare(name_ + ", read back, output " + std::to_string(i), again[i], expected[i], options_.tolerance);
}

}  // namespace flowgraph::testing
