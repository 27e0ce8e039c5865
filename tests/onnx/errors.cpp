// What can't be exported, and files that are not what they should be: one error that says which node, and never more
// than an error.
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <flowgraph.hpp>
#include <flowgraph/onnx.hpp>
#include <flowgraph/onnx/decode.hpp>
#include <flowgraph/onnx/encode.hpp>
#include <flowgraph/onnx/graph_writer.hpp>
#include <flowgraph/onnx/importer.hpp>

#include "../io/scratch.hpp"
#include "support/test_file.hpp"

namespace fg = flowgraph;
using namespace fg::testing;

namespace {

constexpr fg::dim batch{"batch"};

std::string golden_bytes(const std::string& name) {
  return file_content(std::filesystem::path(fg::testing::test_file("golden/onnx")) / name / "model.onnx");
}

// y = op(x, w) with x: float[batch, 4] and w: float[4, 3].
fg::onnx::model_proto small_model(const std::string& op) {
  fg::onnx::model_proto m;
  m.graph.inputs.push_back({"x", 1, true, {{-1, "batch"}, {4, ""}}});
  m.graph.outputs.push_back({"y", 1, true, {{-1, "batch"}, {3, ""}}});
  m.graph.initializers.push_back({"w", 1, {4, 3}, std::string(48, '\0')});
  m.graph.nodes.push_back({"the_node", op, "", {"x", "w"}, {"y"}, {}});
  return m;
}

// What the importer says of it.
fg::onnx_error refused(const std::string& bytes) {
  const scratch_directory directory;
  put_content(directory / "model.onnx", bytes);
  try {
    fg::import_onnx(directory / "model.onnx");
  } catch (const fg::onnx_error& e) {
    CHECK(e.file() == (directory / "model.onnx").string());
    return e;
  }
  FAIL("imported");
  throw 0;
}
fg::onnx_error refused(const fg::onnx::model_proto& m) { return refused(fg::onnx::encoder::encode(m)); }

// Reads any bytes, and throws nothing but the library's own errors.
void survives(const std::string& bytes) {
  try {
    fg::detail::memory_budget budget("model.onnx", fg::onnx_limits, bytes.size());
    const fg::onnx::model_proto m = fg::onnx::decoder::decode("model.onnx", bytes, budget);
    fg::graph g;
    fg::onnx::importer(g.data(), "model.onnx", m, budget).read("model.onnx");
  } catch (const fg::error&) {
  }
}

}  // namespace

TEST_CASE("onnx: all nodes without a form are named in one error, with op and line") {
  fg::graph g;
  auto x = g.placeholder<float, 3, 3>("x");
  auto inverse = g.name("inverse", fg::matrix_inverse(x));
  const int line = __LINE__ + 1;
  auto y = fg::cholesky(inverse + 1.0f);
  fg::dynamic_session s(g);
  const scratch_directory directory;
  try {
    fg::export_onnx(s, directory / "model.onnx", y);
    FAIL("exported");
  } catch (const fg::onnx_error& e) {
    REQUIRE(e.faults().size() == 2);
    CHECK(e.why() == fg::problem::no_onnx_form);
    CHECK(e.faults()[0].node == "inverse");
    CHECK(e.faults()[0].op == "matrix_inverse");
    CHECK(e.faults()[1].op == "cholesky");
    CHECK(e.faults()[1].where.ends_with("errors.cpp:" + std::to_string(line)));
    const std::string text = e.what();
    CHECK(text.find("node \"inverse\" (matrix_inverse) made at ") != std::string::npos);
    CHECK(text.find("has no form in ONNX") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(directory / "model.onnx"));
}

TEST_CASE("onnx: an update behind a fetch is refused, not left out") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 4>("x");
  auto y = fg::layers::batch_norm(x, "norm", fg::phase::training);
  fg::dynamic_session s(g);
  const scratch_directory directory;
  CHECK_THROWS_AS(fg::export_onnx(s, directory / "model.onnx", y), fg::onnx_error);
}

TEST_CASE("onnx: a file that can't be written or read says which") {
  fg::graph g;
  auto x = g.placeholder<float, batch, 4>("x");
  fg::dynamic_session s(g);
  CHECK_THROWS_AS(fg::export_onnx(s, "/no/such/directory/model.onnx", x), fg::file_error);
  CHECK_THROWS_AS(fg::import_onnx("/no/such/model.onnx"), fg::file_error);
}

TEST_CASE("onnx: a refused model names the node and its op") {
  CHECK_NOTHROW(survives(fg::onnx::encoder::encode(small_model("MatMul"))));
  {
    const fg::onnx_error e = refused(small_model("NoSuchOp"));
    CHECK(e.why() == fg::problem::onnx_unsupported);
    CHECK(e.faults()[0].node == "the_node");
    CHECK(e.faults()[0].op == "NoSuchOp");
  }
  {
    auto m = small_model("MatMul");
    m.graph.initializers.clear();
    const fg::onnx_error e = refused(m);
    CHECK(e.faults()[0].reason.find("\"w\"") != std::string::npos);
    CHECK(e.why() == fg::problem::file_malformed);
  }
  {
    auto m = small_model("Add");  // [batch, 4] and [4, 3] don't broadcast
    CHECK(refused(m).why() == fg::problem::broadcast);
  }
  {
    auto m = small_model("MatMul");
    m.graph.initializers[0].code = fg::onnx::code_of(fg::dtype::int32);
    CHECK(refused(m).why() == fg::problem::dtypes_differ);
  }
  {
    auto m = small_model("Sigmoid");
    m.graph.inputs[0].code = fg::onnx::code_of(fg::dtype::int32);
    m.graph.nodes[0].inputs = {"x"};
    CHECK(refused(m).why() == fg::problem::needs_floating);
  }
  {
    auto m = small_model("MatMul");
    m.graph.initializers[0].data.resize(40);
    CHECK(std::string(refused(m).what()).find("expected 48 bytes of data, got 40") != std::string::npos);
  }
  {
    auto m = small_model("MatMul");
    m.graph.initializers[0].dims = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    CHECK(refused(m).why() == fg::problem::file_malformed);
  }
  {
    auto m = small_model("Softmax");
    m.graph.nodes[0].attributes.push_back(fg::onnx::attribute("axis", 7));
    CHECK(refused(m).why() == fg::problem::axis_out_of_range);
  }
  {
    auto m = small_model("MatMul");
    m.graph.outputs[0].name = "z";
    CHECK(std::string(refused(m).what()).find("output \"z\" is given by no node") != std::string::npos);
  }
  {
    auto m = small_model("MatMul");
    m.opset = 9;
    CHECK(std::string(refused(m).what()).find("opset 9") != std::string::npos);
  }
  CHECK(refused(std::string("not a model")).why() == fg::problem::file_malformed);
  CHECK(refused(std::string()).why() == fg::problem::file_malformed);
}

TEST_CASE("onnx: branches and loops that can't be imported say why") {
  const auto branch = [](const std::string& op, const std::string& out) {
    fg::onnx::graph_proto g;
    g.nodes.push_back({"inside_" + out, op, "", {"x", "w"}, {out}, {}});
    g.outputs.push_back({out, 1, false, {}});
    return g;
  };
  // y = x w in one branch, and something else in the other.
  const auto choice = [&](const fg::onnx::graph_proto& otherwise) {
    auto m = small_model("If");
    m.graph.inputs.push_back({"which", 9, true, {}});
    m.graph.nodes[0].inputs = {"which"};
    m.graph.nodes[0].attributes = {fg::onnx::attribute("then_branch", branch("MatMul", "a")),
                                   fg::onnx::attribute("else_branch", otherwise)};
    return m;
  };
  CHECK_NOTHROW(survives(fg::onnx::encoder::encode(choice(branch("MatMul", "b")))));
  {
    auto other = branch("MatMul", "b");
    other.nodes.push_back({"", "ReduceSum", "", {"b"}, {"c"}, {}});
    other.outputs[0].name = "c";
    const fg::onnx_error e = refused(choice(other));
    CHECK(e.why() == fg::problem::branch_results);
    CHECK(e.faults()[0].reason == "its branches must give the same types: float[batch, 3] and float[1, 1]");
  }
  {
    const fg::onnx_error e = refused(choice(branch("NoSuchOp", "b")));
    CHECK(e.faults()[0].node == "inside_b");  // not the If around it
  }
  {
    auto other = branch("MatMul", "b");
    other.outputs[0].name = "nothing";
    CHECK(refused(choice(other)).faults()[0].reason.find("\"nothing\"") != std::string::npos);
  }
  {
    auto other = branch("MatMul", "b");
    for (int depth = 0; depth < 20; ++depth) {
      auto around = branch("If", "b");
      around.nodes[0].attributes = {fg::onnx::attribute("then_branch", other)};
      other = around;
    }
    CHECK(std::string(refused(choice(other)).what()).find("16 deep") != std::string::npos);
  }

  // As often as turns says: v = f(v), and w collected.
  const auto loop = [&](const std::string& f, const std::string& turns, std::size_t collected) {
    fg::onnx::graph_proto body;
    body.inputs = {{"i", 7, true, {}}, {"go_on", 9, true, {}}, {"v", 1, false, {}}};
    body.nodes.push_back({"next", f, "", {"v"}, {"v_next"}, {}});
    body.outputs = {{"go_on", 9, true, {}}, {"v_next", 1, false, {}}};
    for (std::size_t k = 0; k < collected; ++k) body.outputs.push_back({"w", 1, false, {}});
    auto m = small_model("Loop");
    m.graph.inputs.push_back({"count", 7, true, {}});
    m.graph.initializers.push_back({"three", 7, {}, std::string("\3\0\0\0\0\0\0\0", 8)});
    m.graph.nodes[0].inputs = {turns, "", "x"};
    m.graph.nodes[0].outputs = {"y"};
    for (std::size_t k = 0; k < collected; ++k) m.graph.nodes[0].outputs.push_back("all" + std::to_string(k));
    m.graph.nodes[0].attributes = {fg::onnx::attribute("body", body)};
    return m;
  };
  CHECK_NOTHROW(survives(fg::onnx::encoder::encode(loop("Relu", "three", 1))));
  CHECK_NOTHROW(survives(fg::onnx::encoder::encode(loop("Relu", "count", 0))));
  const fg::onnx_error changed = refused(loop("ReduceSum", "three", 0));
  CHECK(changed.why() == fg::problem::loop_variables);
  CHECK(changed.faults()[0].reason == "its variable \"v\" must keep its type: float[batch, 4] became float[1, 1]");
  CHECK(refused(loop("Relu", "count", 1)).faults()[0].reason.find("how many must be known") != std::string::npos);
  auto without_body = loop("Relu", "three", 0);
  without_body.graph.nodes[0].attributes.clear();
  CHECK(refused(without_body).why() == fg::problem::file_malformed);
}

TEST_CASE("onnx: data in other files is read from the model's directory only") {
  const scratch_directory directory;
  // A tensor whose data lies elsewhere: dims 4 3, float, name w, location and where it lies.
  const auto model = [](const std::string& location, const std::string& length = "48") {
    std::string tensor;
    protozero::pbf_writer t(tensor);
    const std::int64_t dims[] = {4, 3};
    t.add_packed_int64(fg::onnx::tags::dims, dims, dims + 2);
    t.add_int32(fg::onnx::tags::data_type, 1);
    t.add_string(fg::onnx::tags::tensor_name, "w");
    t.add_enum(fg::onnx::tags::data_location, 1);
    for (const auto& [key, value] :
         {std::pair<std::string, std::string>{"location", location}, {"offset", "8"}, {"length", length}}) {
      protozero::pbf_writer entry(t, fg::onnx::tags::external_data);
      entry.add_string(fg::onnx::tags::entry_key, key);
      entry.add_string(fg::onnx::tags::entry_value, value);
    }
    auto m = small_model("MatMul");
    m.graph.initializers.clear();
    std::string bytes = fg::onnx::encoder::encode(m);
    protozero::pbf_writer file(bytes);  // a graph that comes in two parts is one
    protozero::pbf_writer graph(file, fg::onnx::tags::graph);
    graph.add_message(fg::onnx::tags::initializer, tensor);
    return bytes;
  };
  put_content(directory / "weights.bin", std::string(8 + 48, '\0'));
  put_content(directory / "model.onnx", model("weights.bin"));
  CHECK(fg::import_onnx(directory / "model.onnx").outputs()[0].extents[1] == "3");
  put_content(directory / "model.onnx", model("weights.bin", ""));
  CHECK(fg::import_onnx(directory / "model.onnx").outputs()[0].extents[1] == "3");
  for (const char* length : {"0", "47", "49", "99999", "-48", "48 ", "99999999999999999999"})
    CHECK_THROWS_AS((put_content(directory / "model.onnx", model("weights.bin", length)),
                     fg::import_onnx(directory / "model.onnx")),
                    fg::onnx_error);
  CHECK_THROWS_AS((put_content(directory / "model.onnx", model(std::string("weights.bin\0x", 13))),
                   fg::import_onnx(directory / "model.onnx")),
                  fg::onnx_error);
  put_content(directory / "model.onnx", model("weights.bin"));
  put_content(directory / "weights.bin", std::string(48, '\0'));
  CHECK_THROWS_AS(fg::import_onnx(directory / "model.onnx"), fg::onnx_error);
  for (const char* place : {"../weights.bin", "/etc/hostname", "", "no_such_file"})
    CHECK_THROWS_AS((put_content(directory / "model.onnx", model(place)), fg::import_onnx(directory / "model.onnx")),
                    fg::onnx_error);
}

TEST_CASE("onnx: what a recurrent node says of itself must be what its weights are") {
  const std::string bytes = golden_bytes("torch_recurrent");
  const auto with = [&](const std::string& name, std::int64_t value) {
    fg::detail::memory_budget budget("model.onnx", fg::onnx_limits, bytes.size());
    fg::onnx::model_proto m = fg::onnx::decoder::decode("model.onnx", bytes, budget);
    for (auto& node : m.graph.nodes) {
      if (node.op != "LSTM") continue;
      std::erase_if(node.attributes, [&](const auto& a) { return a.name == name; });
      node.attributes.push_back({.name = name, .type = 2, .i = value});
    }
    return refused(m).faults()[0].reason;
  };
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()})
    CHECK(with("hidden_size", size).find("don't fit") != std::string::npos);
  CHECK(with("layout", 7) == "layout must be 0 or 1");
}

TEST_CASE("onnx: models that are cut off, or have a wrong byte, are refused or imported, and nothing else") {
  for (const char* name :
       {"torch_mlp", "torch_cnn", "torch_transformer", "torch_assorted", "torch_recurrent", "torch_choosing"}) {
    const std::string whole = golden_bytes(name);
    REQUIRE(whole.size() > 1000);
    for (std::size_t n = 0; n < whole.size(); n += 1 + n / 40) survives(whole.substr(0, n));
    std::uint32_t state = 1;
    for (int k = 0; k < 400; ++k) {
      std::string changed = whole;
      for (int flips = 0; flips < 1 + k % 3; ++flips) {
        state = state * 1664525u + 1013904223u;
        changed[(state >> 4) % changed.size()] = static_cast<char>(state >> 24);
      }
      survives(changed);
    }
  }
}

TEST_CASE("onnx: a few lines that ask for more and more are refused") {
  // Each node makes a list of shapes' numbers twice as long.
  fg::onnx::model_proto m;
  m.graph.inputs.push_back({"x", 1, true, {{-1, "n"}, {4, ""}}});
  m.graph.nodes.push_back({"", "Shape", "", {"x"}, {"s0"}, {}});
  for (int i = 0; i < 30; ++i) {
    const std::string in = "s" + std::to_string(i), out = "s" + std::to_string(i + 1);
    m.graph.nodes.push_back({"", "Concat", "", {in, in}, {out}, {{.name = "axis", .type = 2, .i = 0}}});
  }
  m.graph.outputs.push_back({"s30", 7, false, {}});
  const scratch_directory directory;
  put_content(directory / "model.onnx", fg::onnx::encoder::encode(m));
  const auto problem_with = [&](const fg::file_limits& limits) {
    try {
      fg::import_onnx(directory / "model.onnx", limits);
    } catch (const fg::file_error& e) {
      return e.why();
    }
    return fg::problem::none;
  };
  CHECK(problem_with(fg::onnx_limits) == fg::problem::file_limit);
  m.graph.nodes.resize(6);
  m.graph.outputs[0].name = "s5";
  put_content(directory / "model.onnx", fg::onnx::encoder::encode(m));
  CHECK(problem_with(fg::onnx_limits) == fg::problem::none);
  CHECK(problem_with({.bytes = 1000}) == fg::problem::file_limit);
  // Messages of two bytes that take memory for a node each.
  std::string empty("\x3A\xC0\x9A\x0C", 4);  // a graph of 200,000 bytes
  for (int i = 0; i < 100000; ++i) empty += std::string("\x0A\0", 2);
  put_content(directory / "model.onnx", empty);
  CHECK(problem_with({.bytes = 1000}) == fg::problem::file_limit);
}

TEST_CASE("onnx: weights that were given several names are one variable") {
  fg::onnx::model_proto m = small_model("MatMul");
  m.graph.nodes.insert(m.graph.nodes.begin(), {"", "Identity", "", {"w"}, {"v"}, {}});
  m.graph.nodes.push_back({"", "MatMul", "", {"x", "v"}, {"z"}, {}});
  m.graph.outputs.push_back({"z", 1, false, {}});
  const scratch_directory directory;
  put_content(directory / "model.onnx", fg::onnx::encoder::encode(m));
  fg::onnx_model imported(directory / "model.onnx");
  int variables = 0;
  for (const fg::node& n : imported.graph().view().nodes) variables += n.op->name == "variable";
  CHECK(variables == 1);
}

TEST_CASE("onnx: data in other files is read from the model's own directory, and nothing waits for it") {
  const scratch_directory scratch;
  std::filesystem::create_directories(scratch / "model/deep");
  put_content(scratch / "secret", std::string(48, '\1'));
  put_content(scratch / "model/data", std::string(48, '\0'));
  put_content(scratch / "model/deep/data", std::string(48, '\0'));
  std::filesystem::create_symlink("../secret", scratch / "model/link");
  std::filesystem::create_symlink("..", scratch / "model/up");
  std::filesystem::create_symlink("deep/data", scratch / "model/inside");
  std::filesystem::create_symlink("/dev/zero", scratch / "model/device");
  REQUIRE(::mkfifo((scratch / "model/pipe").c_str(), 0600) == 0);
  const auto said = [&](const std::string& location) -> std::string {
    fg::onnx::model_proto m = small_model("MatMul");
    m.graph.initializers.clear();
    std::string bytes = fg::onnx::encoder::encode(m);
    // A tensor with its data elsewhere, which the encoder does not write.
    const auto field = [](char tag, const std::string& content) {
      return std::string{tag, static_cast<char>(content.size())} + content;
    };
    const std::string tensor = std::string("\x08\x04\x08\x03\x10\x01", 6) + field('\x42', "w") +
                               field('\x6A', field('\x0A', "location") + field('\x12', location)) +
                               std::string("\x70\x01", 2);
    // A message that occurs twice is one: graphs are joined.
    bytes += field('\x3A', field('\x2A', tensor));
    put_content(scratch / "model/model.onnx", bytes);
    try {
      fg::import_onnx(scratch / "model/model.onnx");
    } catch (const fg::onnx_error& e) {
      return e.faults()[0].reason;
    }
    return "imported";
  };
  CHECK(said("data") == "imported");
  CHECK(said("inside") == "imported");
  CHECK(said("deep/data") == "imported");
  CHECK(said("link").ends_with("is a link that leads out of it"));
  CHECK(said("up/secret").ends_with("is a link that leads out of it"));
  CHECK(said("device").ends_with("is a link that leads out of it"));
  CHECK(said("../secret").ends_with("must lie in the model's directory"));
  CHECK(said("pipe").ends_with("can't be read"));
  CHECK(said("deep").ends_with("can't be read"));
  CHECK(said("nothing").ends_with("can't be read"));
}
