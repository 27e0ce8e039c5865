// What devices compute, by their kind: known before anything is placed, so that an op which a kind lacks is planned for
// the CPU beside it and never fails where it runs.
#pragma once
#include <string_view>

#include <flowgraph/core/hash_map.hpp>
#include <flowgraph/graph/device.hpp>
#include <flowgraph/ops/sources.hpp>
#include "draft.hpp"

namespace flowgraph::passes {

// An op, and the types that its operands and results may have.
struct capability {
  std::uint64_t op;
  unsigned types;  // of_type(...) | of_type(...)
};
constexpr unsigned of_type(dtype t) { return 1u << static_cast<int>(t); }

// A kind of device that does not compute everything.
struct device_kind {
  std::string_view name;  // as in "/gpu:0"
  detail::slice<capability> list;
};

struct device_kinds {
  const device_kind* data = nullptr;
  int count = 0;

  constexpr bool operator==(const device_kinds&) const = default;
};

// A device and what it computes.
class able_device {
 public:
  constexpr able_device() = default;
  constexpr able_device(std::string_view text, const device_kinds& kinds) : name(parse_own_device(text)) {
    for (int k = 0; k < kinds.count; ++k) {
      if (kinds.data[k].name != name.kind) continue;
      everything = false;
      for (const capability& c : kinds.data[k].list) types_.set(c.op, static_cast<int>(c.types));
    }
  }

  device_name name;
  bool everything = true;

  // Constants are copied to where they are read, and what has no values computes nothing.
  constexpr bool computes(const graph_view& g, const node& x) const {
    if (everything || x.op->id == ops::constant::id || x.op->id == ops::literal::id ||
        (x.n_inputs == 0 && x.outputs == 0))
      return true;
    const int found = types_.find(x.op->id);
    if (found < 0) return false;
    const auto allowed = [&](dtype t) { return t == dtype::none || (static_cast<unsigned>(found) & of_type(t)) != 0; };
    bool all = allowed(x.type);
    for (int k = 0; k < x.n_inputs; ++k) all = all && allowed(g.nodes[g.edges[x.inputs + k]].type);
    return all;
  }

 private:
  detail::hash_map types_;  // by op
};

}  // namespace flowgraph::passes
