// Defines what print.hpp declares.
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <flowgraph/graph/node_text.hpp>
#include "print.hpp"

namespace flowgraph {

namespace detail {

class plan_printer {
 public:
  plan_printer(const plan_view& p, const graph_view& model) : p_(p), model_(model) {}

  std::string text() {
    for (int i = 0; i < p_.devices.count; ++i)
      out_ += "device " + std::to_string(i) + " = " + std::string(p_.text(p_.devices[i])) + '\n';
    for (int i = 0; i < p_.feeds.count; ++i) {
      const feed_use& f = p_.feeds[i];
      out_ += 'f' + std::to_string(i) + " = feed : " + type(f.type, f.shape) + name(f.node) + on(f.device) + '\n';
    }
    for (int i = 0; i < p_.variables.count; ++i) {
      const variable_use& v = p_.variables[i];
      out_ += 'v' + std::to_string(i) + " = variable : " + type(v.type, v.shape) + name(v.node) + on(v.device) +
              (v.written ? " written\n" : "\n");
    }
    for (int i = 0; i < p_.constants.count; ++i)
      out_ += 'c' + std::to_string(i) + " = " + word_text(p_.constants[i].word) + " : " +
              std::string(name_of(p_.constants[i].type)) + '\n';
    for (int i = 0; i < p_.literals.count; ++i)
      out_ += 'l' + std::to_string(i) + " = literal : " + type(p_.literals[i].type, p_.literals[i].shape) + '\n';
    for (int i = 0; i < p_.slots.count; ++i) {
      const slot& s = p_.slots[i];
      out_ += 's' + std::to_string(i) + " = " + std::to_string(s.bytes);
      if (s.by < 0) out_ += " * (" + std::string(p_.symbol_text(s.by)) + ')';
      out_ += " bytes" + (s.parts > 1 ? " in each of " + std::to_string(s.parts) + " parts" : "") + on(s.device) + '\n';
    }
    for (int i = 0; i < p_.channels.count; ++i) {
      const channel& c = p_.channels[i];
      if (c.send < 0 && c.receive < 0) continue;
      out_ += 'n' + std::to_string(i) + " = channel : ";
      if (const operand* const carried = p_.carried_by(c); carried != nullptr) {
        out_ += type(carried->type, carried->shape) + name(p_.instructions[c.send >= 0 ? c.send : c.receive].node);
      } else {
        out_ += "news";
      }
      out_ += on(c.from) + " to" + on(c.to);
      if (c.slot >= 0) out_ += (c.shared ? " shared as s" : " in s") + std::to_string(c.slot);
      out_ += '\n';
    }
    waits_.resize(static_cast<std::size_t>(p_.instructions.count));
    for (int i = 0; i < p_.instructions.count; ++i)
      for (const int k : p_.next(p_.instructions[i])) waits_[static_cast<std::size_t>(k)].push_back(i);
    print(0, "");
    out_ += "fetch";
    for (const operand& o : p_.fetches) out_ += ' ' + value(o);
    return out_ + '\n';
  }

 private:
  std::string type(dtype t, int shape) const {
    std::string s(name_of(t));
    const slice<extent> dims = p_.dims_of(shape);
    for (int i = 0; i < dims.count; ++i) {
      s += i == 0 ? "[" : ", ";
      s += dims[i] >= 0 ? std::to_string(dims[i]) : std::string(p_.symbol_text(dims[i]));
    }
    return dims.count == 0 ? s : s + ']';
  }
  std::string name(int node) const {
    const std::string_view n = node >= 0 && node < model_.size() ? model_.name_of(node) : std::string_view();
    return n.empty() ? "" : " \"" + std::string(n) + '"';
  }
  std::string on(int device) const { return p_.devices.count > 1 ? " @" + std::to_string(device) : ""; }
  std::string why(int instruction) const {
    if (p_.reasons.count == 0) return "";
    constexpr std::string_view texts[] = {
        " first", " asked", " instead", " with state", " beside", " with region", " with operands", " as the host", ""};
    return std::string(texts[static_cast<int>(p_.reasons[instruction])]);
  }
  static std::string value(const operand& o) {
    return o.where == storage::none ? "-" : "-svfcl"[static_cast<int>(o.where)] + std::to_string(o.index);
  }
  static std::string list(slice<operand> all) {
    std::string s;
    for (const operand& o : all) s += (s.empty() ? "" : ", ") + value(o);
    return s;
  }

  void print(int region, const std::string& indent) {
    const plan_region& r = p_.regions[region];
    for (int i = r.first; i < r.first + r.count; ++i) {
      const instruction& x = p_.instructions[i];
      if (x.region != region) continue;
      for (int k = x.first_region; k < x.first_region + x.n_regions; ++k) {
        out_ += indent + "  region " + std::to_string(k) + ":\n";
        print(k, indent + "    ");
      }
      out_ += indent + line(i) + '\n';
    }
  }

  std::string line(int i) const {
    const instruction& x = p_.instructions[i];
    std::string s = std::to_string(i) + ": " + std::string(x.op->name) + '(' + list(p_.inputs(x)) + ')';
    if (x.n_outputs > 0) s += " -> " + list(p_.outputs(x));
    if (x.in_place >= 0) s += " in place";
    for (const operand& o : p_.outputs(x)) s += " : " + type(o.type, o.shape);
    if (x.program != 0 && p_.programs[x.program].role != program_role::after) s += program_text(x);
    if (x.n_attrs > 0) {
      constexpr int most = 8;
      s += " {";
      for (int k = 0; k < x.n_attrs && k < most; ++k) s += (k == 0 ? "" : ", ") + word_text(p_.attrs(x)[k]);
      s += x.n_attrs > most ? ", ...}" : "}";
    }
    if (x.program != 0 && p_.programs[x.program].role == program_role::after) s += program_text(x);
    s += name(x.node) + on(x.device) + why(i);
    const std::vector<int>& waits = waits_[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < waits.size(); ++k) s += (k == 0 ? " after " : ", ") + std::to_string(waits[k]);
    return s;
  }

  // Operands are a, b, ..., what the op itself gives is y; steps are numbered.
  std::string program_text(const instruction& x) const {
    const program& p = p_.programs[x.program];
    std::string s = p.role == program_role::all ? " [" : p.role == program_role::after ? " then [" : " of [";
    const slice<program_step> steps = p_.steps_of(p);
    for (int k = 0; k < steps.count; ++k) {
      s += (k == 0 ? "" : "; ") + std::to_string(k) + " = " + std::string(steps[k].op->name) + '(';
      for (int j = 0; j < steps[k].n_inputs; ++j) {
        const int r = p_.registers[steps[k].inputs + j];
        s += j == 0 ? "" : ", ";
        s += r >= 0 ? std::to_string(r) : std::string(1, -1 - r == x.n_operands ? 'y' : static_cast<char>('a' - 1 - r));
      }
      s += ')';
    }
    return s + ']';
  }

  const plan_view& p_;
  const graph_view& model_;
  std::vector<std::vector<int>> waits_;
  std::string out_;
};

}  // namespace detail

// With a model, its names appear beside the instructions that stand for them.
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string to_text(const plan_view& p, const graph_view& model) {
  return detail::plan_printer(p, model).text();
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph
