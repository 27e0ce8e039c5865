// Saving and restoring as ops of a graph, so that a step saves what it has just trained, or a model brings its weights:
//
//   g.name("save", fg::save_state(g, "model.safetensors"));
//   g.name("restore", fg::restore_state(g, "model.safetensors"));
//
// Restoring is three kinds of ops: one compares all variables with the file, one for each variable reads it, and when
// all have been read they are assigned. So a bad file changes nothing.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/language/flow.hpp>
#include <flowgraph/language/state.hpp>
#include "checkpoint_error.hpp"

namespace flowgraph {

namespace detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF void run_save_tensors(const kernel_args& k);
FLOWGRAPH_OTHER_HALF void run_match_tensors(const kernel_args& k);
FLOWGRAPH_OTHER_HALF void run_read_tensor(const kernel_args& k);

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

namespace ops {

// Attributes of the first two: the path, then a name for each operand.
struct save_tensors : op<save_tensors, "save_tensors"> {
  static constexpr trait traits = trait::stateful;
  static constexpr void infer(inference&) {}
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
  static void run(const kernel_args& k) { detail::run_save_tensors(k); }
};

// Throws checkpoint_error unless the file has the operands and nothing else. Gives what tells the file from another
// one.
struct match_tensors : op<match_tensors, "match_tensors"> {
  static constexpr trait traits = trait::stateful;
  static constexpr void infer(inference& f) { f.out({}, dtype::int64); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
  static void run(const kernel_args& k) { detail::run_match_tensors(k); }
};

// The tensor of a file that match_tensors, which is its operand, has seen. Attributes: the path and the name.
struct read_tensor : op<read_tensor, "read_tensor"> {
  static constexpr trait traits = trait::stateful;
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
  static constexpr std::int64_t flops(const cost_query&) { return 0; }
  static void run(const kernel_args& k) { detail::run_read_tensor(k); }
};

}  // namespace ops

template <>
struct cpu_kernel<ops::save_tensors> : ops::save_tensors {};
template <>
struct cpu_kernel<ops::match_tensors> : ops::match_tensors {};
template <>
struct cpu_kernel<ops::read_tensor> : ops::read_tensor {};

namespace detail {

// Every variable that the graph has by now; the path and their names as attributes.
struct state_of_graph {
  vec<int> variables;
  vec<std::int64_t> words;
  bool trained = false;  // an optimizer changes it at the end of the step

  constexpr state_of_graph(const graph_data& g, std::string_view path) : words(ops::text_words(path)) {
    const graph_view v = g.view();
    for (int i = 0; i < v.size(); ++i) {
      trained |= v.nodes[i].at_end;
      if (v.nodes[i].op->id != ops::variable::id) continue;
      variables.push(i);
      const vec<std::int64_t> name = ops::text_words(v.name_of(i));
      words.append(name.begin(), name.size());
    }
  }
};

}  // namespace detail

// An operation that writes every variable that the graph has by now, the optimizers' too, as fg::save does. Where a
// step also trains, it saves what came of it if this is called after minimize.
constexpr operation save_state(graph& g, std::string_view path, caller where = {}) {
  graph_data& d = g.data();
  d.where = where;
  const detail::state_of_graph s(d, path);
  const bool at_end = d.at_end;
  d.at_end |= s.trained;  // behind the optimizers, in a branch too
  const int save = d.append(op_def_of<ops::save_tensors>, 0, dtype::none, s.variables.begin(), s.variables.size(),
                            s.words.begin(), s.words.size());
  d.at_end = at_end;
  return {&d, save};
}

// An operation that gives every variable that the graph has by now the value in the file, or none of them. Random
// numbers go on from where the session is: fg::restore brings the seed and the count of steps back as well.
constexpr operation restore_state(graph& g, std::string_view path, caller where = {}) {
  graph_data& d = g.data();
  d.where = where;
  const detail::state_of_graph s(d, path);
  const int n = s.variables.size();
  const int file =
      d.append(op_def_of<ops::match_tensors>, 0, dtype::int64, s.variables.begin(), n, s.words.begin(), s.words.size());
  detail::vec<int> values, updates;
  for (int i = 0; i < n; ++i) {
    detail::vec<std::int64_t> words = ops::text_words(path);
    const detail::vec<std::int64_t> name = ops::text_words(d.view().name_of(s.variables[i]));
    words.append(name.begin(), name.size());
    const node v = d.nodes[s.variables[i]];
    values.push(d.append(op_def_of<ops::read_tensor>, v.shape, v.type, &file, 1, words.begin(), words.size()));
  }
  d.push_control(ops::append_group(d, values.begin(), n));
  for (int i = 0; i < n; ++i) {
    const int in[] = {s.variables[i], values[i]};
    updates.push(d.append(op_def_of<ops::assign>, 0, dtype::none, in, 2));
  }
  d.pop_controls(1);
  return {&d, ops::append_group(d, updates.begin(), n)};
}

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "checkpoint_ops_code.hpp"
#endif
