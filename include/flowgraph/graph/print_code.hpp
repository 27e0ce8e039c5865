// Defines what print.hpp declares.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "node_text.hpp"
#include "print.hpp"

namespace flowgraph {

namespace detail {

class graph_printer {
 public:
  graph_printer(const graph_view& g, const print_labels& labels)
      : g_(g),
        labels_(labels),
        named_(labels.ids.count == 0 ? g : labels.model),
        nodes_of_(count(g.regions.count)) {
    for (int i = 0; i < g.size(); ++i) nodes_of_[count(g.nodes[i].region)].push_back(i);
    names_.resize(count(named_.nodes.count));
    for (const name_entry& e : named_.names)
      if (names_[count(e.node)].empty()) names_[count(e.node)] = named_.text(e.text);
  }

  std::string text() {
    print_region(0, "");
    return out_;
  }

  std::string dot() {
    out_ = "digraph flowgraph {\n  node [shape=box, fontname=\"sans-serif\"];\n";
    choose_places();
    draw_places();
    draw_region(0, "  ");
    for (int i = 0; i < g_.size(); ++i) {
      for (const int in : g_.inputs(i)) draw_edge(in, i, "");
      for (const int in : g_.controls(i)) draw_edge(in, i, " [style=dashed]");
      const node& x = g_.nodes[i];
      for (int r = x.first_region; r < x.first_region + x.n_regions; ++r)
        for (const int e : g_.results(r)) draw_edge(e, i, " [style=dotted]");
    }
    return out_ + "}\n";
  }

 private:
  static std::size_t count(int n) { return static_cast<std::size_t>(n); }
  int model_id(int id) const { return labels_.ids.count == 0 ? id : labels_.ids[id]; }
  std::string_view name(int id) const { return names_[count(model_id(id))]; }

  // As it may stand between quotation marks. A name that was read from a file may have any character.
  static std::string quotable(std::string_view text) {
    std::string s;
    for (const char c : text) {
      if (c == '"' || c == '\\') s += '\\';
      if (c == '\n')
        s += "\\n";
      else
        s += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return s;
  }

  static void list(std::string& s, slice<int> ids) {
    for (int k = 0; k < ids.count; ++k) s += (k == 0 ? "%" : ", %") + std::to_string(ids[k]);
  }

  void print_region(int r, const std::string& indent) {
    for (const int i : nodes_of_[count(r)]) {
      const node& x = g_.nodes[i];
      for (int k = x.first_region; k < x.first_region + x.n_regions; ++k) {
        out_ += indent + "  region " + std::to_string(k) + ":\n";
        print_region(k, indent + "    ");
        out_ += indent + "    give ";
        list(out_, g_.results(k));
        out_ += '\n';
      }
      out_ += indent + line(i) + '\n';
    }
  }

  std::string line(int i) const {
    const node& x = g_.nodes[i];
    std::string s = '%' + std::to_string(i) + " = " + std::string(x.op->name) + '(';
    list(s, g_.inputs(i));
    s += ')';
    if (x.type != dtype::none) s += " : " + type_text_of(g_, x.type, x.shape);
    if (x.n_attrs > 0) {
      constexpr int most = 8;  // a literal may have thousands
      s += " {";
      for (int k = 0; k < x.n_attrs && k < most; ++k) s += (k == 0 ? "" : ", ") + word_text(g_.attrs(i)[k]);
      s += x.n_attrs > most ? ", ...}" : "}";
    }
    if (x.n_regions > 0) {
      s += " regions " + std::to_string(x.first_region);
      if (x.n_regions > 1) s += " to " + std::to_string(x.first_region + x.n_regions - 1);
    }
    if (x.n_control > 0) {
      s += " after ";
      list(s, g_.controls(i));
    }
    if (!name(i).empty()) s += " \"" + quotable(name(i)) + '"';
    if (x.device != 0) s += " @" + std::string(named_.text(named_.texts[x.device]));
    if (count(i) < labels_.notes.size() && !labels_.notes[count(i)].empty()) s += ' ' + labels_.notes[count(i)];
    return s;
  }

  void choose_places() {
    place_ = labels_.place;
    places_ = labels_.places;
    if (!place_.empty()) return;
    std::vector<int> of_text(count(named_.texts.size()), -1);
    for (const node& x : g_.nodes) {
      int& of = of_text[count(x.device)];
      if (of < 0 && x.device != 0) {
        of = static_cast<int>(places_.size());
        places_.emplace_back(named_.text(named_.texts[x.device]));
      }
      place_.push_back(of);
    }
  }
  // Graphviz has twelve of them.
  static std::string colour(int place) {
    return ", style=filled, colorscheme=set312, fillcolor=" + std::to_string(place % 12 + 1);
  }
  void draw_places() {
    if (places_.empty()) return;
    out_ += "  subgraph cluster_devices {\n    label=\"devices\";\n";
    for (std::size_t k = 0; k < places_.size(); ++k)
      out_ += "    d" + std::to_string(k) + " [label=\"" + quotable(places_[k]) + "\", shape=ellipse" +
              colour(static_cast<int>(k)) + "];\n";
    out_ += "  }\n";
  }
  void draw_region(int r, const std::string& indent) {
    for (const int i : nodes_of_[count(r)]) {
      const node& x = g_.nodes[i];
      for (int k = x.first_region; k < x.first_region + x.n_regions; ++k) {
        out_ += indent + "subgraph cluster_" + std::to_string(k) + " {\n";
        draw_region(k, indent + "  ");
        out_ += indent + "}\n";
      }
      out_ += indent + 'n' + std::to_string(i) + " [label=\"" + quotable(x.op->name);
      if (!name(i).empty()) out_ += "\\n" + quotable(name(i));
      if (x.type != dtype::none) out_ += "\\n" + quotable(type_text_of(g_, x.type, x.shape));
      const int place = place_[count(i)];
      out_ += (place >= 0                ? '"' + colour(place)
               : x.op->is(trait::source) ? "\", style=filled, fillcolor=lightgrey"
                                         : "\"") +
              "];\n";
    }
  }
  void draw_edge(int from, int to, const char* style) {
    out_ += "  n" + std::to_string(from) + " -> n" + std::to_string(to) + style + ";\n";
  }

  const graph_view& g_;
  const print_labels& labels_;
  const graph_view& named_;
  std::vector<std::vector<int>> nodes_of_;  // of each region
  std::vector<std::string_view> names_;     // of each node of the model
  std::vector<int> place_;                  // of each node; -1: none
  std::vector<std::string> places_;
  std::string out_;
};

}  // namespace detail

// %3 = matmul(%0, %1) : float[batch, 32] {0, 0} "logits" @/gpu:0
// Nodes of a region are indented and stand before the node that runs it; "after" lists control dependencies.
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::string to_text(const graph_view& g, const print_labels& labels) {
  return detail::graph_printer(g, labels).text();
}
FLOWGRAPH_OTHER_HALF std::string to_dot(const graph_view& g, const print_labels& labels) {
  return detail::graph_printer(g, labels).dot();
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph
