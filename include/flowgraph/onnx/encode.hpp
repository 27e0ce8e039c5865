// A model as the bytes of an ONNX file.
#pragma once
#include <string>

#if !__has_include(<protozero/pbf_writer.hpp>)
#error "<flowgraph/onnx.hpp> needs protozero: install it (Debian: libprotozero-dev), link flowgraph::onnx"
#endif
#include <protozero/pbf_writer.hpp>

#include "messages.hpp"

namespace flowgraph::onnx {

// Messages within messages are written in place: write(pbf_writer) fills one.
class encoder {
 public:
  static std::string encode(const model_proto& m) {
    std::string bytes;
    protozero::pbf_writer w(bytes);
    w.add_int64(tags::ir_version, m.ir_version);
    w.add_string(tags::producer_name, m.producer);
    {
      protozero::pbf_writer opset(w, tags::opset_import);
      opset.add_string(tags::opset_domain, std::string());
      opset.add_int64(tags::opset_version, m.opset);
    }
    protozero::pbf_writer graph(w, tags::graph);
    write(graph, m.graph);
    return bytes;
  }
  // A tensor alone, as files of test data have it.
  static std::string encode(const tensor_proto& t) {
    std::string bytes;
    protozero::pbf_writer w(bytes);
    write(w, t);
    return bytes;
  }

 private:
  using writer = protozero::pbf_writer;

  template <class Message>
  static void write_in(writer& outer, std::uint32_t tag, const Message& message) {
    writer w(outer, tag);
    write(w, message);
  }

  static void write(writer& w, const graph_proto& g) {
    for (const node_proto& n : g.nodes) write_in(w, tags::node, n);
    w.add_string(tags::graph_name, g.name);
    for (const tensor_proto& t : g.initializers) write_in(w, tags::initializer, t);
    for (const value_proto& v : g.inputs) write_in(w, tags::input, v);
    for (const value_proto& v : g.outputs) write_in(w, tags::output, v);
  }
  static void write(writer& w, const node_proto& n) {
    for (const std::string& s : n.inputs) w.add_string(tags::node_input, s);
    for (const std::string& s : n.outputs) w.add_string(tags::node_output, s);
    w.add_string(tags::node_name, n.name);
    w.add_string(tags::op_type, n.op);
    for (const attribute_proto& a : n.attributes) write_in(w, tags::attribute, a);
  }
  static void write(writer& w, const attribute_proto& a) {
    w.add_string(tags::attribute_name, a.name);
    w.add_enum(tags::attribute_type, a.type);
    switch (a.type) {
      case attribute_proto::number:
        w.add_float(tags::f, a.f);
        break;
      case attribute_proto::integer:
        w.add_int64(tags::i, a.i);
        break;
      case attribute_proto::text:
        w.add_bytes(tags::s, a.s);
        break;
      case attribute_proto::tensor:
        write_in(w, tags::t, *a.t);
        break;
      case attribute_proto::graph:
        write_in(w, tags::g, *a.g);
        break;
      default:  // the one other kind that is written
        w.add_packed_int64(tags::ints, a.ints.begin(), a.ints.end());
    }
  }
  static void write(writer& w, const value_proto& v) {
    w.add_string(tags::value_name, v.name);
    writer type(w, tags::value_type);
    writer tensor(type, tags::tensor_type);
    tensor.add_int32(tags::elem_type, v.code);
    if (v.dims.empty()) tensor.add_message(tags::shape, std::string());  // a writer leaves out what stays empty
    writer shape(tensor, tags::shape);
    for (const dimension& d : v.dims) {
      writer dim(shape, tags::dim);
      if (d.value >= 0)
        dim.add_int64(tags::dim_value, d.value);
      else
        dim.add_string(tags::dim_param, d.name);
    }
  }
  static void write(writer& w, const tensor_proto& t) {
    w.add_packed_int64(tags::dims, t.dims.begin(), t.dims.end());
    w.add_int32(tags::data_type, t.code);
    w.add_string(tags::tensor_name, t.name);
    w.add_bytes(tags::raw_data, t.data);
  }
};

}  // namespace flowgraph::onnx
