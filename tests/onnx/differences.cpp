// What random models beside onnxruntime found (fuzz.py), with its numbers.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/onnx.hpp>
#include <flowgraph/onnx/encode.hpp>

#include "../io/scratch.hpp"
#include "rows.hpp"

namespace fg = flowgraph;
using namespace fg::testing;

namespace {

constexpr int floats = 1, int64s = 7;
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();

// A model of one node or a few.
struct small {
  fg::onnx::model_proto m;
  std::vector<typed_array> fed;
  std::vector<std::string> operands;

  // dims: as the file states them, "n + 1" or "4".
  small& input(const std::vector<double>& values, const std::vector<std::int64_t>& is,
               std::vector<std::string> dims = {}, fg::dtype type = fg::dtype::float32) {
    fg::onnx::value_proto v{"x" + std::to_string(fed.size()), fg::onnx::code_of(type), true, {}};
    for (std::size_t i = 0; i < is.size(); ++i) {
      const bool named = i < dims.size() && !dims[i].empty();
      v.dims.push_back({named ? -1 : is[i], named ? dims[i] : ""});
    }
    operands.push_back(v.name);
    m.graph.inputs.push_back(v);
    fed.emplace_back(type, is, values);
    return *this;
  }
  small& known(const std::vector<std::int64_t>& values, bool scalar = false) {
    fg::onnx::tensor_proto t{"c" + std::to_string(m.graph.initializers.size()), int64s, {}, ""};
    if (!scalar) t.dims = {static_cast<std::int64_t>(values.size())};
    t.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t));
    operands.push_back(t.name);
    m.graph.initializers.push_back(t);
    return *this;
  }
  small& node(const std::string& op, std::vector<fg::onnx::attribute_proto> attributes = {}) {
    const std::string out = "y" + std::to_string(m.graph.nodes.size());
    m.graph.nodes.push_back({"", op, "", operands, {out}, std::move(attributes)});
    operands = {out};
    return *this;
  }
  void save(const std::filesystem::path& path) {
    m.graph.outputs = {{operands[0], floats, false, {}}};
    put_content(path, fg::onnx::encoder::encode(m));
  }
  fetched_array run() {
    const scratch_directory directory;
    save(directory / "model.onnx");
    return run_model(directory / "model.onnx", fed).at(0);
  }
  std::string refused() {
    const scratch_directory directory;
    save(directory / "model.onnx");
    try {
      fg::import_onnx(directory / "model.onnx");
    } catch (const fg::onnx_error& e) {
      return e.faults()[0].reason;
    }
    return "imported";
  }
};
fg::onnx::attribute_proto integer(const std::string& name, std::int64_t i) { return {.name = name, .type = 2, .i = i}; }
fg::onnx::attribute_proto integers(const std::string& name, std::vector<std::int64_t> all) {
  return {.name = name, .type = 7, .ints = std::move(all)};
}
fg::onnx::attribute_proto text(const std::string& name, const std::string& s) {
  return {.name = name, .type = 3, .s = s};
}

using dims = std::vector<std::int64_t>;
using values = std::vector<double>;

}  // namespace

TEST_CASE("onnx: Sinh near 0, and Sinh and Cosh where exp is infinite already") {
  const values x{1e-7, -1e-4, 0.5, -1.5, 88.9, -88.9, 89.5, 0, std::numeric_limits<double>::infinity()};
  const fetched_array sinh = small().input(x, {9}).node("Sinh").run(), cosh = small().input(x, {9}).node("Cosh").run();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = static_cast<double>(static_cast<float>(x[i]));
    const auto near = [](double got, double expected) {
      return got == expected || std::abs(got - expected) <= 2e-6 * std::abs(expected) ||
             (std::isinf(got) && std::abs(expected) > 3.4e38);
    };
    CAPTURE(at);
    CHECK_MESSAGE(near(sinh.values[i], std::sinh(at)), sinh.values[i]);
    CHECK_MESSAGE(near(cosh.values[i], std::cosh(at)), cosh.values[i]);
  }
}

TEST_CASE("onnx: integers are divided towards 0, to the ends of their range") {
  const auto divided = [](const std::string& op, std::vector<fg::onnx::attribute_proto> a) {
    small s;
    s.known({least, most, least + 1, -7, 7, -7, 7, -6}).known({2, -3, 7, 2, -2, -2, 2, 3}).node("Identity");
    s.operands = {"c0", "c1"};
    // Known numbers are computed while the file is read: these are not.
    s.m.graph.nodes.clear();
    s.operands[0] = "i0";
    s.m.graph.nodes.push_back({"", "Reshape", "", {"c0", "shape"}, {"r0"}, {}});
    s.m.graph.nodes.push_back({"", "Reshape", "", {"r0", "flat"}, {"i0"}, {}});
    const std::int64_t shape[] = {8, 1}, flat[] = {8};
    s.m.graph.initializers.push_back({"shape", int64s, {2}, std::string(reinterpret_cast<const char*>(shape), 16)});
    s.m.graph.initializers.push_back({"flat", int64s, {1}, std::string(reinterpret_cast<const char*>(flat), 8)});
    return s.node(op, std::move(a)).run().values;
  };
  CHECK(divided("Div", {}) == values{static_cast<double>(least / 2), static_cast<double>(most / -3),
                                     static_cast<double>((least + 1) / 7), -3, -3, 3, 3, -2});
  CHECK(divided("Mod", {integer("fmod", 1)}) ==
        values{0, static_cast<double>(most % -3), static_cast<double>((least + 1) % 7), -1, 1, -1, 1, 0});
}

TEST_CASE("onnx: padding that auto_pad makes counts in an average if it is said to") {
  const values x{1, 2, 3, 4};
  const auto pooled = [&](std::vector<std::string> names, std::int64_t stride) {
    return small()
        .input(x, {1, 1, 4}, std::move(names))
        .node("AveragePool", {integers("kernel_shape", {3}), integers("strides", {stride}),
                              text("auto_pad", "SAME_UPPER"), integer("count_include_pad", 1)});
  };
  CHECK(pooled({}, 1).run().values[0] == doctest::Approx(1));
  CHECK(pooled({}, 1).run().values[3] == doctest::Approx(7.0 / 3));
  CHECK(pooled({"", "", "n"}, 1).run().values[3] == doctest::Approx(7.0 / 3));
  CHECK(pooled({}, 2).run().values[1] == doctest::Approx(7.0 / 3));
  CHECK(pooled({"", "", "n"}, 2).refused().find("needs images whose extents are numbers") != std::string::npos);
}

TEST_CASE("onnx: a slice from beyond either end") {
  const auto cut = [](std::int64_t begin, std::int64_t end, std::int64_t step, std::vector<std::string> names = {}) {
    return small()
        .input({0, 1, 2, 3}, {4}, std::move(names))
        .known({begin})
        .known({end})
        .known({0})
        .known({step})
        .node("Slice")
        .run();
  };
  for (const auto& names : {std::vector<std::string>{}, std::vector<std::string>{"n"}}) {
    CHECK(cut(most, most, 1, names).dims == dims{0});
    CHECK(cut(least, most, 1, names).values == values{0, 1, 2, 3});
    CHECK(cut(most, least, -1, names).values == values{3, 2, 1, 0});
    CHECK(cut(3, 1, 1, names).dims == dims{0});
    CHECK(cut(0, most, most, names).values == values{0});
    CHECK(cut(most, least, least, names).values == values{3});
    CHECK(cut(least, least, -1, names).values == values{0});
    CHECK(cut(-1, most, -1, names).dims == dims{0});
  }
  CHECK(cut(-9, 9, 3).values == values{0, 3});
}

TEST_CASE("onnx: Squeeze without axes needs extents that are numbers") {
  CHECK(small().input({1, 2}, {1, 2, 1}).node("Squeeze").run().dims == dims{2});
  CHECK(small().input({1, 2}, {1, 2, 1}, {"", "n"}).node("Squeeze").refused().find("\"n\" may be 1") !=
        std::string::npos);
  CHECK(small().input({1, 2}, {1, 2, 1}, {"", "n"}).known({0, -1}).node("Squeeze").run().dims == dims{2});
}

TEST_CASE("onnx: Dropout drops nothing, or is refused") {
  const auto dropout = [](float ratio, bool training) {
    small s;
    s.input({1, 2}, {2});
    s.m.graph.initializers.push_back({"ratio", floats, {}, std::string(reinterpret_cast<const char*>(&ratio), 4)});
    s.m.graph.initializers.push_back({"training", 9, {}, std::string(1, training ? '\1' : '\0')});
    s.operands.insert(s.operands.end(), {"ratio", "training"});
    return s.node("Dropout");
  };
  CHECK(dropout(0.5f, true).refused() == "training_mode is not supported");
  CHECK(dropout(0.0f, true).run().values == values{1, 2});
  CHECK(dropout(0.5f, false).run().values == values{1, 2});
}

TEST_CASE("onnx: a shape's name is no -1") {
  // The first name of a graph is the number -1 inside.
  small s;
  s.input({1, 2, 3}, {3}, {"n"}).node("Shape");
  const std::vector<std::string> shape = s.operands;
  s.operands = {"two", shape[0]};
  const std::int64_t two[] = {5, 6};
  s.m.graph.initializers.push_back({"two", int64s, {2}, std::string(reinterpret_cast<const char*>(two), 16)});
  CHECK(s.node("Reshape").refused().find("as many elements") != std::string::npos);
}

TEST_CASE("onnx: what -1 stands for is told from products of named extents") {
  small s;
  s.input({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 3, 2}, {"n", "m"}).node("Shape");
  s.m.graph.nodes.push_back({"", "Gather", "", {"y0", "first"}, {"a"}, {}});
  s.m.graph.nodes.push_back({"", "Gather", "", {"y0", "second"}, {"b"}, {}});
  s.m.graph.nodes.push_back({"", "Mul", "", {"a", "b"}, {"ab"}, {}});
  const std::int64_t numbers[] = {0, 1, -1};
  const char* names[] = {"first", "second", "rest"};
  for (std::size_t i = 0; i < 3; ++i)
    s.m.graph.initializers.push_back(
        {names[i], int64s, {1}, std::string(reinterpret_cast<const char*>(numbers + i), 8)});
  s.m.graph.nodes.push_back({"", "Concat", "", {"rest", "ab"}, {"to"}, {integer("axis", 0)}});
  s.operands = {"x0", "to"};
  CHECK(s.node("Reshape").run().dims == dims{2, 6});
}

TEST_CASE("onnx: negative positions count from the back") {
  const values x{1, 2, 3, 4, 5, 6};
  for (const auto& names : {std::vector<std::string>{}, std::vector<std::string>{"n", "m"}}) {
    CHECK(small()
              .input(x, {2, 3}, names)
              .input({-1, -1, 0, -3}, {2, 2}, {}, fg::dtype::int64)
              .node("GatherND")
              .run()
              .values == values{6, 1});
    CHECK(small()
              .input(x, {2, 3}, names)
              .input({-1, -1, 0, -3}, {2, 2}, {}, fg::dtype::int64)
              .input({60, 10}, {2})
              .node("ScatterND")
              .run()
              .values == values{10, 2, 3, 4, 5, 60});
  }
  CHECK(small().input(x, {2, 3}).input({-1, 0}, {2, 1}, {}, fg::dtype::int64).node("GatherND").run().values ==
        values{4, 5, 6, 1, 2, 3});
  // Fewer indices than elements along the other axes.
  CHECK(small()
            .input(x, {2, 3})
            .input({-1, 0}, {1, 2}, {}, fg::dtype::int64)
            .node("GatherElements", {integer("axis", 1)})
            .run()
            .values == values{3, 1});
}

TEST_CASE("onnx: a slope does not touch 0") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(small().input({0, -1, 2}, {3}).input({inf}, {1}).node("PRelu").run().values == values{0, -inf, 2});
}

TEST_CASE("onnx: OneHot has the two values that it is given, infinite ones, too") {
  const double inf = std::numeric_limits<double>::infinity();
  small s;
  s.input({1, -2}, {2}, {}, fg::dtype::int64).known({2}).input({-inf, inf}, {2});
  CHECK(s.node("OneHot").run().values == values{-inf, inf, inf, -inf});
}

TEST_CASE("onnx: extents that are computed of names, and names that only look alike") {
  small s;
  s.input({1, 2}, {2}, {"past"})
      .input({1, 2, 3}, {3}, {"past + 1"})
      .input({1}, {1}, {"past - 1"})
      .node("Concat", {integer("axis", 0)});
  CHECK(s.run().values == values{1, 2, 1, 2, 3, 1});
  const scratch_directory directory;
  s.save(directory / "model.onnx");
  const fg::onnx_model m(directory / "model.onnx");
  CHECK(m.inputs()[1].extents[0] == "past+1");
  CHECK(m.inputs()[2].extents[0] == "past-1");
  CHECK(m.outputs()[0].extents[0] == "3*past");
  // Of a name that no input has, and of texts that are no names, each is one of its own.
  small t;
  t.input({1, 2}, {2}, {"total + 1"}).input({1, 2, 3}, {3}, {"total - 1"}).input({4}, {1}, {"total___1"});
  CHECK(t.node("Concat", {integer("axis", 0)}).run().values == values{1, 2, 1, 2, 3, 4});
}

TEST_CASE("onnx: whole numbers that a double can't hold") {
  small s;
  s.known({9007199254740993, 9007199254740996}).node("Identity");
  const auto range = [](std::int64_t from, std::int64_t to, std::int64_t by) {
    return small().known({from}, true).known({to}, true).known({by}, true).node("Range");
  };
  // Differences are small enough for a double.
  const auto less = [](small made, std::int64_t by) {
    const std::string out = made.operands[0];
    made.known({by});
    return made.node("Sub").run().values;
  };
  CHECK(less(range(9007199254740993, 9007199254740996, 1), 9007199254740990) == values{3, 4, 5});
  CHECK(range(5, -4, -3).run().values == values{5, 2, -1});
  CHECK(range(least, most, most).run().dims == dims{3});
  CHECK(range(3, 3, 1).run().dims == dims{0});
  small filled;
  fg::onnx::tensor_proto value{"", int64s, {1}, ""};
  const std::int64_t large = 9007199254740993;
  value.data.assign(reinterpret_cast<const char*>(&large), 8);
  filled.known({2});
  CHECK(less(filled.node("ConstantOfShape", {{.name = "value", .type = 4, .t = value}}), 9007199254740990) ==
        values{3, 3});
}

TEST_CASE("onnx: paddings below 0 cut off, counts of 0 leave nothing, IsInf may find neither") {
  CHECK(small().input({1, 2, 3, 4}, {4}).known({-1, 2}).node("Pad").run().values == values{2, 3, 4, 0, 0});
  CHECK(small().input({1, 2, 3, 4}, {4}, {"n"}).known({-1, -1}).node("Pad").run().values == values{2, 3});
  CHECK(small().input({1, 2}, {2}).known({-3, 2}).node("Pad").run().values == values{0});
  CHECK(small().input({1, 2}, {2}).known({5, -4}).node("Pad").run().values == values{0, 0, 0});
  CHECK(small().input({1, 2}, {2}).known({-2, -1}).node("Pad").refused() == "more is cut off than there is");
  CHECK(small().input({1, 2}, {1, 2}).known({3, 0}).node("Tile").run().dims == dims{3, 0});
  CHECK(small()
            .input({1, 2}, {2})
            .node("IsInf", {integer("detect_positive", 0), integer("detect_negative", 0)})
            .run()
            .values == values{0, 0});
}
