// fg::export_onnx: what the fetches need of a session's graph, with the present values of its variables, as an ONNX
// file.
#pragma once
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/formats/file_path.hpp>
#include <flowgraph/passes/prune.hpp>
#include <flowgraph/session/dynamic_session.hpp>
#include <flowgraph/session/session.hpp>
#include <flowgraph/session/session_access.hpp>
#include "error.hpp"
#include "interface.hpp"

namespace flowgraph {

namespace onnx {

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void write_model(detail::engine& e, const graph_view& g, const file_path& path, const boundary& b);

}  // namespace FLOWGRAPH_HALF

template <class Session>
void export_session(Session& s, const file_path& path, const boundary& b) {
  using access = detail::session_access;
  write_model(access::engine_of(s), access::graph_of(s), path, b);
}

template <fixed_string... Name>
struct fed_names {};
struct fed_handles {
  std::vector<std::pair<const graph_data*, int>> each;
};

template <class T>
concept export_argument = any_tensor<T> || std::same_as<T, fed_handles>;

// False after a mistake: a tensor that no fetch needs, one that is named twice, an operation.
template <const auto& Model, fixed_string... Fetch, fixed_string... Fed>
constexpr bool check_fed(fed_names<Fed...>) {
  if constexpr (sizeof...(Fed) != 0) {
    constexpr plan_fault fault = [] {
      const int fetches[] = {Model.view().find(Fetch.view())...}, fed[] = {Model.view().find(Fed.view())...};
      return passes::prune(Model.view(), {{fetches, sizeof...(Fetch)}, {fed, sizeof...(Fed)}}, true).fault;
    }();
    if constexpr (fault.why != problem::none)
      detail::mistake<fault.why, named<detail::node_label<Model, fault.node>()>>();
    return fault.why == problem::none;
  } else {
    return true;
  }
}

}  // namespace onnx

// Tensors that are inputs of an exported file in place of what computes them. By name of a session<model>, by handle of
// a dynamic_session.
template <fixed_string... Name>
constexpr onnx::fed_names<Name...> fed() {
  return {};
}
template <any_tensor... Tensor>
  requires(sizeof...(Tensor) > 0)
onnx::fed_handles fed(const Tensor&... tensor) {
  return {{{tensor.graph, tensor.id}...}};
}

// The inference graph behind the fetches as an ONNX file, with the variables' present values: placeholders are its
// inputs, the fetches its outputs, both by name; named extents are symbolic dimensions. Dropout is left out. Throws
// onnx_error, which lists every node that ONNX has no form for, and file_error where the file can't be written.
//   fg::export_onnx<"logits">(s, "digits.onnx");
//   fg::export_onnx<"drawn">(s, "decoder.onnx", fg::fed<"z">());  // z is an input, and what computes it left out
template <fixed_string... Fetch, const auto& Model, fixed_string... Fed>
void export_onnx(session<Model>& s, const file_path& path, onnx::fed_names<Fed...> = onnx::fed_names<>{}) {
  if constexpr (detail::check_names<Model, detail::name_use::fetch, Fetch...>() &&
                detail::check_names<Model, detail::name_use::feed, Fed...>()) {
    static_assert(sizeof...(Fetch) > 0, "export_onnx: name at least one tensor to export");
    static_assert(((Model.view().nodes[Model.view().find(Fetch.view())].type != dtype::none) && ...),
                  "export_onnx: an operation has no value that could be exported");
    if constexpr (onnx::check_fed<Model, Fetch...>(onnx::fed_names<Fed...>{})) {
      const std::vector<onnx::named_tensor> fetches{{Model.view().find(Fetch.view()), std::string(Fetch.view())}...},
          inputs{{Model.view().find(Fed.view()), std::string(Fed.view())}...};
      onnx::export_session(s, path, {fetches, inputs});
    }
  }
}
// fg::export_onnx(s, "decoder.onnx", drawn, fg::fed(z)): an output is called by its handle's first name, or output_0
// and so on; an input likewise, or input_0.
template <onnx::export_argument... Arguments>
  requires(any_tensor<Arguments> || ...)
void export_onnx(dynamic_session& s, const file_path& path, const Arguments&... arguments) {
  const graph_view g = detail::session_access::graph_of(s);
  std::vector<onnx::named_tensor> fetches, inputs;
  const auto add = [&](std::vector<onnx::named_tensor>& to, const char* kind, const graph_data* graph, int id) {
    if (id < 0 || id >= g.size() || graph->nodes.data != g.nodes.data)
      throw graph_error(problem::different_graphs, "export_onnx: a handle belongs to another graph than the session's");
    const std::string_view name = g.name_of(id);
    to.push_back({id, name.empty() ? kind + std::to_string(to.size()) : std::string(name)});
  };
  const auto sort = [&]<class A>(const A& a) {
    if constexpr (any_tensor<A>)
      add(fetches, "output_", a.graph, a.id);
    else
      for (const auto& [graph, id] : a.each) add(inputs, "input_", graph, id);
  };
  (sort(arguments), ...);
  onnx::export_session(s, path, {fetches, inputs});
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "export_code.hpp"
#endif
