// The parts of ONNX's protocol that models are made of, as plain data. What they mean is in encode.hpp and decode.hpp;
// names are those of onnx.proto.
#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/core/dtype.hpp>

namespace flowgraph::onnx {

static_assert(std::endian::native == std::endian::little, "the data of ONNX tensors is little-endian");

// TensorProto.DataType of each element type.
constexpr std::int32_t code_of(dtype t) {
  constexpr std::int32_t codes[] = {0, 9, 3, 2, 6, 7, 10, 16, 1, 11};
  return codes[static_cast<int>(t)];
}
// none: not an element type that a tensor here has.
constexpr dtype dtype_of_code(std::int64_t code) {
  for (int i = 1; i <= static_cast<int>(dtype::float64); ++i)
    if (code_of(static_cast<dtype>(i)) == code) return static_cast<dtype>(i);
  return dtype::none;
}

struct tensor_proto {
  std::string name;
  std::int32_t code = 0;
  std::vector<std::int64_t> dims;
  std::string data;  // elements row by row, as they lie in memory

  dtype type() const { return dtype_of_code(code); }
};

struct graph_proto;

struct attribute_proto {
  enum kind : int { none, number = 1, integer = 2, text = 3, tensor = 4, graph = 5, numbers = 6, integers = 7 };
  std::string name;
  int type = none;
  std::int64_t i = 0;
  float f = 0;
  std::string s{};
  std::optional<tensor_proto> t{};
  std::shared_ptr<graph_proto> g{};  // a branch, a loop's body
  std::vector<std::int64_t> ints{};
  std::vector<float> floats{};
  std::vector<std::string> strings{};
};

struct node_proto {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<attribute_proto> attributes;
};

// A dimension is a number, a name, or, with neither, anything.
struct dimension {
  std::int64_t value = -1;
  std::string name;
};
struct value_proto {
  std::string name;
  std::int32_t code = 0;  // 0: no tensor
  bool has_shape = false;
  std::vector<dimension> dims;
};

struct graph_proto {
  std::string name;
  std::vector<node_proto> nodes;
  std::vector<tensor_proto> initializers;
  std::vector<value_proto> inputs, outputs;
};

// f(name of an operand) for each, those of sub-graphs included.
template <class F>
void each_operand(std::vector<node_proto>& nodes, const F& f) {
  for (node_proto& n : nodes) {
    for (std::string& name : n.inputs) f(name);
    for (attribute_proto& a : n.attributes)
      if (a.g) each_operand(a.g->nodes, f);
  }
}

struct model_proto {
  std::int64_t ir_version = 8;
  std::int64_t opset = 18;  // of the default domain
  std::string producer;
  graph_proto graph;
};

// The numbers of the fields.
struct tags {
  enum model : std::uint32_t { ir_version = 1, producer_name = 2, graph = 7, opset_import = 8 };
  enum opset : std::uint32_t { opset_domain = 1, opset_version = 2 };
  enum graph_fields : std::uint32_t { node = 1, graph_name = 2, initializer = 5, input = 11, output = 12 };
  enum node_fields : std::uint32_t {
    node_input = 1,
    node_output = 2,
    node_name = 3,
    op_type = 4,
    attribute = 5,
    node_domain = 7
  };
  enum attribute_fields : std::uint32_t {
    attribute_name = 1,
    f = 2,
    i = 3,
    s = 4,
    t = 5,
    g = 6,
    floats = 7,
    ints = 8,
    strings = 9,
    attribute_type = 20
  };
  enum value : std::uint32_t {
    value_name = 1,
    value_type = 2,
    tensor_type = 1,
    elem_type = 1,
    shape = 2,
    dim = 1,
    dim_value = 1,
    dim_param = 2
  };
  enum tensor : std::uint32_t {
    dims = 1,
    data_type = 2,
    float_data = 4,
    int32_data = 5,
    int64_data = 7,
    tensor_name = 8,
    raw_data = 9,
    double_data = 10,
    external_data = 13,
    data_location = 14,
    entry_key = 1,
    entry_value = 2
  };
};

}  // namespace flowgraph::onnx
