// A model from the bytes of an ONNX file, which may be anything: every length is checked before it is believed, a field
// of an unexpected wire type is passed over like an unknown one, and graphs lie within each other only so deep.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#if !__has_include(<protozero/pbf_reader.hpp>)
#error "<flowgraph/onnx.hpp> needs protozero: install it (Debian: libprotozero-dev), link flowgraph::onnx"
#endif
#include <protozero/pbf_reader.hpp>

#include <flowgraph/core/symbols.hpp>
#include <flowgraph/formats/file_limits.hpp>
#include "error.hpp"
#include "messages.hpp"

namespace flowgraph::onnx {

// Elements of one tensor; more are refused, so that no product of extents overflows.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 31;

// The number of elements; -1: an extent is negative, there are too many axes or elements.
inline std::int64_t count_elements(const std::vector<std::int64_t>& dims) {
  std::int64_t n = 1;
  bool empty = false;
  for (const std::int64_t d : dims) {
    if (d < 0 || d > most_elements) return -1;
    empty = empty || d == 0;
    if (d > 0 && (n *= d) > most_elements) return -1;
  }
  if (dims.size() > static_cast<std::size_t>(max_rank)) return -1;
  return empty ? 0 : n;
}

class decoder {
 public:
  // file: its name, for errors and to find data that lies in files beside it.
  static model_proto decode(const std::filesystem::path& file, std::string_view bytes, detail::memory_budget& budget) {
    return guarded(file, budget, [&](decoder& d) { return d.read_model({bytes.data(), bytes.size()}); });
  }
  // A tensor alone, as files of test data have it.
  static tensor_proto decode_tensor(const std::filesystem::path& file, std::string_view bytes,
                                    detail::memory_budget& budget) {
    return guarded(file, budget, [&](decoder& d) { return d.read_tensor({bytes.data(), bytes.size()}); });
  }

 private:
  using reader = protozero::pbf_reader;
  using wire = protozero::pbf_wire_type;

  decoder(const std::filesystem::path& file, detail::memory_budget& budget) : file_(file), budget_(budget) {}

  template <class F>
  static std::invoke_result_t<F, decoder&> guarded(const std::filesystem::path& file, detail::memory_budget& budget,
                                                   const F& read) {
    decoder d(file, budget);
    try {
      return read(d);
    } catch (const protozero::exception& e) {
      throw onnx_error(problem::file_malformed, file.string(),
                       {"", "", "", std::string("is no whole ONNX file: ") + e.what()});
    }
  }

  static constexpr std::uint32_t field(std::uint32_t tag, wire type) {
    return protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(tag), type);
  }
  static constexpr std::uint32_t bytes_field(std::uint32_t tag) { return field(tag, wire::length_delimited); }
  static constexpr std::uint32_t int_field(std::uint32_t tag) { return field(tag, wire::varint); }

  static std::string text(reader& r) {
    const auto v = r.get_view();
    return {v.data(), v.size()};
  }

  [[noreturn]] void fail(problem why, const std::string& reason) const {
    throw onnx_error(why, file_.string(), {"", "", "", reason});
  }

  model_proto read_model(reader r) {
    model_proto m;
    m.ir_version = m.opset = 0;
    bool graph = false;
    while (r.next()) switch (r.tag_and_type()) {
        case int_field(tags::ir_version):
          m.ir_version = r.get_int64();
          break;
        case bytes_field(tags::producer_name):
          m.producer = text(r);
          break;
        case bytes_field(tags::opset_import):
          read_opset(r.get_message(), m.opset);
          break;
        case bytes_field(tags::graph):
          read_graph(r.get_message(), m.graph);
          graph = true;
          break;
        default:
          r.skip();
      }
    if (!graph) fail(problem::file_malformed, "is no ONNX file: it holds no graph");
    return m;
  }
  static void read_opset(reader r, std::int64_t& version) {
    std::string domain;
    std::int64_t v = 0;
    while (r.next()) switch (r.tag_and_type()) {
        case bytes_field(tags::opset_domain):
          domain = text(r);
          break;
        case int_field(tags::opset_version):
          v = r.get_int64();
          break;
        default:
          r.skip();
      }
    if (domain.empty() || domain == "ai.onnx") version = v;
  }
  void read_graph(reader r, graph_proto& g) {
    while (r.next()) switch (r.tag_and_type()) {
        case bytes_field(tags::node):
          g.nodes.push_back(read_node(r.get_message()));
          break;
        case bytes_field(tags::graph_name):
          g.name = text(r);
          break;
        case bytes_field(tags::initializer):
          g.initializers.push_back(read_tensor(r.get_message()));
          break;
        case bytes_field(tags::input):
          g.inputs.push_back(read_value(r.get_message()));
          break;
        case bytes_field(tags::output):
          g.outputs.push_back(read_value(r.get_message()));
          break;
        default:
          r.skip();
      }
  }
  node_proto read_node(reader r) {
    budget_.spend(sizeof(node_proto));  // far more than an empty message has bytes
    node_proto n;
    while (r.next()) switch (r.tag_and_type()) {
        case bytes_field(tags::node_input):
          n.inputs.push_back(text(r));
          break;
        case bytes_field(tags::node_output):
          n.outputs.push_back(text(r));
          break;
        case bytes_field(tags::node_name):
          n.name = text(r);
          break;
        case bytes_field(tags::op_type):
          n.op = text(r);
          break;
        case bytes_field(tags::node_domain):
          n.domain = text(r);
          break;
        case bytes_field(tags::attribute):
          n.attributes.push_back(read_attribute(r.get_message()));
          break;
        default:
          r.skip();
      }
    return n;
  }
  attribute_proto read_attribute(reader r) {
    budget_.spend(sizeof(attribute_proto));
    attribute_proto a;
    while (r.next()) switch (r.tag_and_type()) {
        case bytes_field(tags::attribute_name):
          a.name = text(r);
          break;
        case int_field(tags::attribute_type):
          a.type = r.get_enum();
          break;
        case int_field(tags::i):
          a.i = r.get_int64();
          break;
        case field(tags::f, wire::fixed32):
          a.f = r.get_float();
          break;
        case bytes_field(tags::s):
          a.s = text(r);
          break;
        case bytes_field(tags::t):
          a.t = read_tensor(r.get_message());
          break;
        case int_field(tags::ints):
          a.ints.push_back(r.get_int64());
          break;
        case bytes_field(tags::g):
          a.g = std::make_shared<graph_proto>();
          if (++depth_ > most_depth) fail(problem::onnx_unsupported, "has branches or loops more than 16 deep");
          read_graph(r.get_message(), *a.g);
          --depth_;
          break;
        case bytes_field(tags::ints):
          for (const std::int64_t i : r.get_packed_int64()) a.ints.push_back(i);
          break;
        case field(tags::floats, wire::fixed32):
          a.floats.push_back(r.get_float());
          break;
        case bytes_field(tags::floats):
          for (const float f : r.get_packed_float()) a.floats.push_back(f);
          break;
        case bytes_field(tags::strings):
          a.strings.push_back(text(r));
          break;
        default:
          r.skip();
      }
    return a;
  }

  // A value's type, its shape and its dimensions are messages within each other.
  value_proto read_value(reader r) {
    budget_.spend(sizeof(value_proto));
    value_proto v;
    while (r.next()) switch (r.tag_and_type()) {
        case bytes_field(tags::value_name):
          v.name = text(r);
          break;
        case bytes_field(tags::value_type):
          for (reader type = r.get_message(); type.next();) {
            if (type.tag_and_type() == bytes_field(tags::tensor_type))
              read_tensor_type(type.get_message(), v);
            else
              type.skip();
          }
          break;
        default:
          r.skip();
      }
    return v;
  }
  static void read_tensor_type(reader r, value_proto& v) {
    while (r.next()) switch (r.tag_and_type()) {
        case int_field(tags::elem_type):
          v.code = r.get_int32();
          break;
        case bytes_field(tags::shape):
          v.has_shape = true;
          for (reader shape = r.get_message(); shape.next();) {
            if (shape.tag_and_type() == bytes_field(tags::dim))
              v.dims.push_back(read_dimension(shape.get_message()));
            else
              shape.skip();
          }
          break;
        default:
          r.skip();
      }
  }
  static dimension read_dimension(reader r) {
    dimension d;
    while (r.next()) switch (r.tag_and_type()) {
        case int_field(tags::dim_value):
          d.value = r.get_int64();
          break;
        case bytes_field(tags::dim_param):
          d.name = text(r);
          break;
        default:
          r.skip();
      }
    return d;
  }

  // Data comes as bytes, as numbers of one of four kinds, or in another file.
  struct tensor_parts {
    tensor_proto tensor;
    std::vector<std::int64_t> integers;
    bool external = false;
    std::map<std::string, std::string> entries;
  };
  template <class T>
  static void append(std::string& to, T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    to.append(bytes, sizeof(T));
  }
  tensor_proto read_tensor(reader r) {
    budget_.spend(sizeof(tensor_proto));
    tensor_parts p;
    tensor_proto& t = p.tensor;
    while (r.next()) switch (r.tag_and_type()) {
        case int_field(tags::dims):
          t.dims.push_back(r.get_int64());
          break;
        case bytes_field(tags::dims):
          for (const std::int64_t d : r.get_packed_int64()) t.dims.push_back(d);
          break;
        case int_field(tags::data_type):
          t.code = r.get_int32();
          break;
        case bytes_field(tags::tensor_name):
          t.name = text(r);
          break;
        case bytes_field(tags::raw_data):
          t.data = text(r);
          break;
        case field(tags::float_data, wire::fixed32):
          append(t.data, r.get_float());
          break;
        case bytes_field(tags::float_data):
          for (const float f : r.get_packed_float()) append(t.data, f);
          break;
        case field(tags::double_data, wire::fixed64):
          append(t.data, r.get_double());
          break;
        case bytes_field(tags::double_data):
          for (const double f : r.get_packed_double()) append(t.data, f);
          break;
        case int_field(tags::int32_data):
        case int_field(tags::int64_data):
          p.integers.push_back(r.get_int64());
          break;
        case bytes_field(tags::int32_data):
        case bytes_field(tags::int64_data):
          for (const std::int64_t i : r.get_packed_int64()) p.integers.push_back(i);
          break;
        case int_field(tags::data_location):
          p.external = r.get_enum() == 1;
          break;
        case bytes_field(tags::external_data):
          read_entry(r.get_message(), p.entries);
          break;
        default:
          r.skip();
      }
    return finish(p);
  }
  static void read_entry(reader r, std::map<std::string, std::string>& entries) {
    std::string key, value;
    while (r.next()) switch (r.tag_and_type()) {
        case bytes_field(tags::entry_key):
          key = text(r);
          break;
        case bytes_field(tags::entry_value):
          value = text(r);
          break;
        default:
          r.skip();
      }
    entries[key] = value;
  }

  // Whole, or refused. Of an element type that no tensor here has, without data: it may not be needed.
  tensor_proto finish(tensor_parts& p) {
    tensor_proto& t = p.tensor;
    const std::int64_t count = count_elements(t.dims);
    if (count < 0)
      fail(problem::file_malformed, "tensor \"" + t.name +
                                        "\": a tensor has at most 8 axes and 2^31 elements, and no "
                                        "negative extent");
    if (t.type() == dtype::none) {
      t.data.clear();
      return std::move(t);
    }
    const auto size = static_cast<std::size_t>(count) * static_cast<std::size_t>(size_of(t.type()));
    if (p.external) {
      read_external(t, p.entries, size);
    } else if (t.data.empty()) {
      for (const std::int64_t i : p.integers) append_integer(t, i);
    }
    if (t.data.size() != size)
      fail(problem::file_malformed, "tensor \"" + t.name + "\": expected " + std::to_string(size) +
                                        " bytes of data, got " + std::to_string(t.data.size()));
    if (t.type() == dtype::boolean)
      for (char& b : t.data) b = b != 0;  // another number in a bool is undefined behaviour
    return std::move(t);
  }
  // Of the 16-bit types the bits.
  static void append_integer(tensor_proto& t, std::int64_t i) {
    switch (size_of(t.type())) {
      case 1:
        return append(t.data, static_cast<std::int8_t>(i));
      case 2:
        return append(t.data, static_cast<std::uint16_t>(i));
      case 4:
        return append(t.data, static_cast<std::int32_t>(i));
      default:
        return append(t.data, i);
    }
  }
  // Only from a file in the model's own directory or below it, wherever links lead: a model must not read what it
  // likes.
  void read_external(tensor_proto& t, std::map<std::string, std::string>& entries, std::size_t size) {
    const std::filesystem::path location = entries["location"];
    const auto refuse = [&](const std::string& what) {
      fail(problem::file_malformed, "tensor \"" + t.name + "\": its data in \"" + location.string() + "\" " + what);
    };
    bool inside = location.is_relative() && !location.empty() && entries["location"].find('\0') == std::string::npos;
    for (const auto& part : location) inside = inside && part != "..";
    if (!inside) refuse("must lie in the model's directory");
    const auto number = [&](const char* entry, const char* otherwise) {
      std::uint64_t n = 0;
      for (const char c : entries[entry]) {
        if (c < '0' || c > '9' || n > (std::uint64_t{1} << 50)) refuse(otherwise);
        n = n * 10 + static_cast<std::uint64_t>(c - '0');
      }
      return n;
    };
    const std::uint64_t offset = number("offset", "begins at no number");
    if (const std::uint64_t given = number("length", "is of no number of bytes");
        !entries["length"].empty() && given != size)
      refuse("is of " + std::to_string(given) + " bytes, and the tensor has " + std::to_string(size));
    std::error_code failed;
    const std::filesystem::path directory =
        std::filesystem::canonical(file_.has_parent_path() ? file_.parent_path() : ".", failed);
    const std::filesystem::path place = std::filesystem::canonical(directory / location, failed);
    if (failed) refuse("can't be read");
    if (std::mismatch(directory.begin(), directory.end(), place.begin(), place.end()).first != directory.end())
      refuse("must lie in the model's directory, and is a link that leads out of it");
    // Before it is opened: a pipe would wait for somebody to write.
    if (!std::filesystem::is_regular_file(place, failed)) refuse("can't be read");
    std::ifstream from(place, std::ios::binary | std::ios::ate);
    if (!from) refuse("can't be read");
    const auto length = static_cast<std::uint64_t>(from.tellg());
    if (offset > length || size > length - offset) refuse("ends before the tensor does");
    if (external_.insert(place).second) budget_.add_file(length);
    budget_.spend(size);
    t.data.resize(size);
    from.seekg(static_cast<std::streamoff>(offset));
    from.read(t.data.data(), static_cast<std::streamsize>(size));
    if (static_cast<std::size_t>(from.gcount()) != size) refuse("can't be read");
  }

  static constexpr int most_depth = 16;

  const std::filesystem::path& file_;
  detail::memory_budget& budget_;
  std::set<std::filesystem::path> external_;  // files that data was read from
  int depth_ = 0;
};

}  // namespace flowgraph::onnx
