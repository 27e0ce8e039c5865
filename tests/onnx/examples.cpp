// The examples' models, as they stand in their files, between the tensors that one would deploy: exported, imported
// again and, by run_onnxruntime.py, run by onnxruntime, to the same numbers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph.hpp>
#include <flowgraph/onnx.hpp>
#include <flowgraph/onnx/decode.hpp>

#include "../../examples/support/letters.hpp"
#include "../io/scratch.hpp"
#include "rows.hpp"

namespace fg = flowgraph;

// CMakeLists.txt says what these files hold.
namespace first_graph {
#include "01_first_graph.model"
}
namespace ridge_regression {
#include "02_ridge_regression.model"
}
namespace digits_mlp {
#include "03_digits_mlp.model"
}
namespace digits_cnn {
#include "04_digits_cnn.model"
}
namespace control_flow {
#include "05_control_flow.model"
}
namespace character_lstm {
#include "06_character_lstm.model"
}
namespace sequence_to_sequence {
#include "07_sequence_to_sequence.model"
}
#include "08_custom_op.model"  // specialises a template of the library
namespace custom_optimizer {
#include "09_custom_optimizer.model"
}
namespace word_vectors {
#include "10_word_vectors.model"
}
namespace realtime_inference {
#include "11_realtime_inference.model"
}
namespace transformer {
#include "12_transformer.model"
}
namespace digits_vae {
#include "13_digits_vae.model"
}
namespace pole_on_a_cart {
#include "15_agent.model"
}

using namespace fg::testing;

namespace {

struct example_input {
  std::string name;
  double low, high;
};
struct example_case {
  std::string name;
  std::vector<example_input> inputs;
  std::vector<fg::binding> extents{};
};

const fg::session_options one_thread{.threads = 1, .seed = 1};

// Parameters that begin with equal numbers, as biases do, get others: 0 would hide them. All are multiplied by scale.
void stir(fgd::engine& e, double scale) {
  fgd::write_variables(e, nullptr, [&](std::span<const fgd::variable_view> all) {
    int seed = 0;
    for (const fgd::variable_view& v : all) {
      const auto count = static_cast<std::size_t>(v.value.size());
      fgd::with_type(v.value.type, [&]<class T>(T) {
        if constexpr (std::is_floating_point_v<T>) {
          const std::span<T> values(v.value.as<T>(), count);
          if (std::all_of(values.begin(), values.end(), [&](T x) { return x == values[0]; })) {
            const typed_array by = numbers(fgd::dtype_of<T>, v.dims(), -0.3, 0.3, ++seed);
            for (std::size_t i = 0; i < count; ++i) values[i] += reinterpret_cast<const T*>(by.memory.data())[i];
          }
          for (T& x : values) x *= static_cast<T>(scale);
        }
      });
    }
  });
}

// The model in place, beside what it computes here, which it gives.
std::vector<fetched_array> compare_file(const case_directory& place, const example_case& c, fgd::engine& e,
                                        const fg::graph_view& g, const std::vector<std::string>& fetches) {
  INFO(c.name);
  const fg::onnx_model m = fg::import_onnx(place.path / "model.onnx");
  REQUIRE(m.inputs().size() == c.inputs.size());
  std::vector<typed_array> arrays;
  std::vector<fgd::borrowed> data;
  std::vector<int> fed, fetched;
  for (const fg::onnx_value& in : m.inputs()) {
    const std::size_t i = arrays.size();
    CHECK(in.name == c.inputs[i].name);
    std::vector<std::int64_t> dims;
    for (const std::string& extent : in.extents) {
      const auto named =
          std::find_if(c.extents.begin(), c.extents.end(), [&](const fg::binding& b) { return b.name == extent; });
      dims.push_back(named != c.extents.end() ? named->value : std::stoll(extent));
    }
    arrays.push_back(numbers(in.type, dims, c.inputs[i].low, c.inputs[i].high, static_cast<int>(i)));
    place.write("input", i, in.name, arrays.back());
    fed.push_back(g.find(in.name));
  }
  for (const typed_array& a : arrays) data.push_back(a.borrow());
  for (const std::string& f : fetches) fetched.push_back(g.find(f));
  const std::vector<fetched_array> expected = planned_run(e, g, fetched, fed).run(data);
  const std::vector<fetched_array> again = run_model(place.path / "model.onnx", arrays);
  REQUIRE(again.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(m.outputs()[i].name == fetches[i]);
    place.write("output", i, fetches[i], {expected[i].type, expected[i].dims, expected[i].values});
    compare(c.name + ", read back, " + fetches[i], again[i], expected[i], 1e-5);
  }
  return expected;
}

int count_nodes(const std::filesystem::path& file, const std::string& op) {
  const std::string bytes = file_content(file);
  int count = 0;
  fg::detail::memory_budget budget("", {}, bytes.size());
  for (const auto& n : fg::onnx::decoder::decode("", bytes, budget).graph.nodes) count += n.op == op;
  return count;
}

struct example_result {
  std::vector<fetched_array> values;
  int transposes;
};

template <fg::fixed_string... Fetch, const auto& Model, class... Fed>
example_result export_example(fg::session<Model>& s, const example_case& c, Fed... fed) {
  const case_directory place("example_" + c.name);
  fg::export_onnx<Fetch...>(s, place.path / "model.onnx", fed...);
  return {compare_file(place, c, fgd::session_access::engine_of(s), Model.view(), {std::string(Fetch.view())...}),
          count_nodes(place.path / "model.onnx", "Transpose")};
}

// The model's session, with numbers that are worth comparing.
template <const auto& Model>
fg::session<Model> session_of(double scale = 1) {
  fg::session<Model> s(one_thread);
  stir(fgd::session_access::engine_of(s), scale);
  return s;
}

// What keeps a tensor from being exported, each op once: "random_uniform at examples/06_character_lstm.cpp".
template <fg::fixed_string Fetch, const auto& Model>
std::string refused_of() {
  fg::session<Model> s(one_thread);
  const scratch_directory directory;
  std::set<std::string> nodes;
  try {
    fg::export_onnx<Fetch>(s, directory / "model.onnx");
  } catch (const fg::onnx_error& e) {
    CHECK(e.why() == fg::problem::no_onnx_form);
    for (const fg::onnx_fault& f : e.faults()) {
      CHECK(std::string(e.what()).find("node \"" + f.node + "\" (" + f.op + ") made at " + f.where) !=
            std::string::npos);
      nodes.insert(f.op + " at " + f.where.substr(0, f.where.find(':')));
    }
  }
  CHECK_FALSE(std::filesystem::exists(directory / "model.onnx"));
  std::string all;
  for (const std::string& n : nodes) all += (all.empty() ? "" : ", ") + n;
  return all;
}

}  // namespace

TEST_CASE("onnx: the examples' regressions and classifiers") {
  auto thermometer = session_of<first_graph::thermometer>();
  export_example<"guess">(thermometer, {"01_first_graph", {{"celsius", -40, 40}}, {first_graph::readings(5)}});
  auto ridge = session_of<ridge_regression::ridge>();
  export_example<"guess">(ridge, {"02_ridge_regression", {{"x", -1, 1}}, {ridge_regression::rows(6)}});
  auto mlp = session_of<digits_mlp::digits>();
  export_example<"logits">(mlp, {"03_digits_mlp", {{"x", 0, 1}}, {digits_mlp::batch(7)}});
  auto cnn = session_of<digits_cnn::digits>();
  // Images come in with one channel, so that a reshape serves; they leave to be flattened.
  CHECK(export_example<"logits">(cnn, {"04_digits_cnn", {{"x", 0, 17}}, {digits_cnn::batch(5)}}).transposes == 1);
  auto own_op = session_of<digits>();
  export_example<"z">(own_op, {"08_custom_op", {{"x", 0, 1}}, {batch(4)}});
  auto own_optimizer = session_of<custom_optimizer::digits>();
  export_example<"logits">(own_optimizer, {"09_custom_optimizer", {{"x", 0, 1}}, {custom_optimizer::batch(4)}});
  auto policy = session_of<pole_on_a_cart::agent>();
  export_example<"logits">(policy, {"15_agent", {{"state", -1, 1}}, {pole_on_a_cart::batch(6)}});
}

TEST_CASE("onnx: the examples' branches and loops") {
  auto s = session_of<control_flow::epidemic>();
  export_example<"simulated">(s, {"05_control_flow", {{"in_bed", 0, 300}}, {control_flow::days(9)}});
  export_example<"reproduction", "share">(s, {"05_control_flow_share", {}});
  CHECK(s.get<"log_contagion">() > s.get<"log_recovery">());
  s.set<"log_contagion">(-2.0);  // the other branch
  export_example<"reproduction", "share">(s, {"05_control_flow_nobody", {}});
}

TEST_CASE("onnx: the examples' models of language") {
  const std::vector<fg::binding> sizes{character_lstm::batch(3), character_lstm::duration(6)};
  auto lstm = session_of<character_lstm::reader>();
  export_example<"logits">(lstm, {"06_character_lstm", {{"x", 0, 128}}, sizes});
  // With small weights a decoder says one thing again and again; with these all rows end, each in its own turn.
  auto translator = session_of<sequence_to_sequence::translator>(5);
  auto bias = translator.get<"out/b">();
  bias(sequence_to_sequence::end_token) += 5.6f;
  translator.set<"out/b">(bias);
  const std::vector<example_input> numeral{{"source", 0, 7}, {"length", 1, 16}};
  const auto counts =
      export_example<"tokens", "count">(translator, {"07_sequence_to_sequence", numeral, sizes}).values[1].values;
  CHECK(*std::max_element(counts.begin(), counts.end()) < 6);
  CHECK(std::set(counts.begin(), counts.end()).size() > 1);
  export_example<"logits">(translator,
                           {"07_sequence_to_sequence_given", {numeral[0], numeral[1], {"given", 0, 11}}, sizes});
  auto vectors = session_of<word_vectors::word_vectors>();
  export_example<"logits">(vectors, {"10_word_vectors", {{"word", 0, 128}}, {word_vectors::pairs(6)}});
  export_example<"nearest">(vectors, {"10_word_vectors_nearest", {}});
  auto writer = session_of<transformer::transformer>();
  export_example<"logits">(writer, {"12_transformer", {{"x", 0, 128}}, sizes});
}

TEST_CASE("onnx: the examples' models, cut out between tensors in their middle") {
  // The state goes in and comes out, so that whoever runs the file keeps it from tick to tick.
  auto reader = session_of<realtime_inference::reader>();
  export_example<"logits", "next">(reader, {"11_realtime_inference", {{"row", 0, 1}, {"state", -1, 1}}},
                                   fg::fed<"row", "state">());
  auto vae = session_of<digits_vae::vae>();
  const std::vector<fg::binding> five{digits_vae::batch(5)};
  export_example<"mean">(vae, {"13_digits_vae_encoder", {{"x", 0, 17}, {"y", 0, 10}}, five});
  export_example<"drawn">(vae, {"13_digits_vae_decoder", {{"z", -2, 2}, {"y", 0, 10}}, five}, fg::fed<"z">());
  export_example<"picture">(vae, {"13_digits_vae_picture", {{"noise", -2, 2}}}, fg::fed<"noise">());
}

TEST_CASE("onnx: what the examples draw, solve, differentiate or compute by an op of their own is refused") {
  CHECK(refused_of<"closed_w", ridge_regression::ridge>() == "solve at examples/02_ridge_regression.cpp");
  CHECK(refused_of<"slope", control_flow::epidemic>() == "stack_push at examples/05_control_flow.cpp");
  CHECK(refused_of<"text", character_lstm::reader>() == "random_uniform at examples/06_character_lstm.cpp");
  CHECK(refused_of<"accuracy", digits>() == "sparsemax at examples/08_custom_op.cpp");
  CHECK(refused_of<"sampled", word_vectors::word_vectors>() == "random_uniform at examples/10_word_vectors.cpp");
  CHECK(refused_of<"text", transformer::transformer>() == "random_uniform at examples/12_transformer.cpp");
  CHECK(refused_of<"picture", digits_vae::vae>() == "random_normal at examples/13_digits_vae.cpp");
}
