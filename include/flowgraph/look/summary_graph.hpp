// A graph and the times of a step in TensorFlow's messages GraphDef and RunMetadata, for TensorBoard's graph page.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include <flowgraph/engine/text.hpp>
#include <flowgraph/graph/structural.hpp>
#include <flowgraph/session/profile.hpp>
#include "node_paths.hpp"

namespace flowgraph::detail {

// TensorFlow's numbers of element types; 0: none.
constexpr int tensorflow_type(dtype t) {
  switch (t) {
    case dtype::none:
      return 0;
    case dtype::boolean:
      return 10;
    case dtype::int8:
      return 6;
    case dtype::uint8:
      return 4;
    case dtype::int32:
      return 3;
    case dtype::int64:
      return 9;
    case dtype::float16:
      return 19;
    case dtype::bfloat16:
      return 14;
    case dtype::float32:
      return 1;
    case dtype::float64:
      return 2;
  }
  return 0;
}

// Within the message, a message of this field.
template <class Body>
void submessage(protozero::pbf_writer& to, protozero::pbf_tag_type field, const Body& body) {
  protozero::pbf_writer inner(to, field);
  body(inner);
}

// A field of the map from names of attributes to values.
template <class Value>
void add_attribute(protozero::pbf_writer& node_def, std::string_view name, const Value& value) {
  submessage(node_def, 5, [&](protozero::pbf_writer& entry) {
    entry.add_string(1, name.data(), name.size());
    submessage(entry, 2, value);
  });
}

inline void add_shape(protozero::pbf_writer& shape, const graph_view& g, int node) {
  const extents e = g.shape_of(node);
  for (int i = 0; i < e.rank; ++i)
    submessage(shape, 2, [&](protozero::pbf_writer& dim) {
      dim.add_int64(1, e[i] < 0 ? -1 : e[i]);
      if (e[i] < 0) dim.add_string(2, std::string(g.symbol_text(e[i])));
    });
}

inline std::string graph_def(const graph_view& g) {
  const node_paths names(g);
  std::string bytes;
  protozero::pbf_writer graph(bytes);
  for (int i = 0; i < g.size(); ++i)
    submessage(graph, 1, [&](protozero::pbf_writer& to) {
      const node& n = g.nodes[i];
      to.add_string(1, names[i]);
      to.add_string(2, n.op->name.data(), n.op->name.size());
      for (const int k : g.inputs(i)) to.add_string(3, names[k]);
      if (n.op->id == ops::argument::id) {  // what enters a region comes from an input of its owner
        const int owner = g.regions[n.region].owner;
        const auto k = static_cast<int>(g.attrs(i)[0]);
        if (k < g.nodes[owner].n_inputs) to.add_string(3, names[g.inputs(owner)[k]]);
      }
      for (int r = n.first_region; r < n.first_region + n.n_regions; ++r)
        for (const int k : g.results(r)) to.add_string(3, names[k]);
      for (const int k : g.controls(i)) to.add_string(3, '^' + names[k]);
      if (n.device != 0) to.add_string(4, std::string(g.device(i)));
      if (n.type != dtype::none) {
        add_attribute(to, "dtype", [&](protozero::pbf_writer& value) { value.add_enum(6, tensorflow_type(n.type)); });
        add_attribute(to, "_output_shapes", [&](protozero::pbf_writer& value) {
          submessage(value, 1, [&](protozero::pbf_writer& list) {
            submessage(list, 7, [&](protozero::pbf_writer& shape) { add_shape(shape, g, i); });
          });
        });
      }
      add_attribute(to, "where", [&](protozero::pbf_writer& value) { value.add_bytes(2, line_text(g, i)); });
    });
  submessage(graph, 4, [](protozero::pbf_writer& versions) { versions.add_int32(1, 22); });
  return bytes;
}

// began: when the step did, in microseconds since 1970.
inline std::string run_metadata(const step_profile& step, const graph_view& g, std::int64_t began) {
  const node_paths names(g);
  std::map<std::string_view, std::vector<const instruction_profile*>> by_device;
  for (const instruction_profile& i : step.instructions) by_device[i.device].push_back(&i);
  std::string bytes;
  protozero::pbf_writer metadata(bytes);
  submessage(metadata, 1, [&](protozero::pbf_writer& stats) {
    for (const auto& [device, instructions] : by_device)
      submessage(stats, 1, [&, &name = device, &all = instructions](protozero::pbf_writer& of_device) {
        of_device.add_string(1, name.data(), name.size());
        for (const instruction_profile* x : all)
          submessage(of_device, 2, [&](protozero::pbf_writer& to) {
            const std::int64_t took = x->end - x->begin;
            to.add_string(1, names[x->id]);
            to.add_int64(2, began + x->begin / 1000);
            to.add_int64(4, took / 1000);
            to.add_int64(5, took / 1000);
            submessage(to, 6, [&](protozero::pbf_writer& memory) {
              memory.add_string(1, "flowgraph");
              memory.add_int64(2, x->bytes);
            });
            to.add_string(8, fmt::format("{} = {}({}) {}", x->node, x->op, x->shapes, x->where));
            to.add_uint32(10, static_cast<std::uint32_t>(x->thread));
            to.add_int64(13, began * 1000 + x->begin);
            to.add_int64(15, took);
            to.add_int64(16, took);
          });
      });
  });
  return bytes;
}

}  // namespace flowgraph::detail
