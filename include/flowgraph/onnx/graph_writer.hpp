// The ONNX graph under construction: nodes, constants, names that nobody else has, extents as values, and axes in
// another order than the reader thinks. ONNX's convolutions want the channels before the rows, ours come behind: such a
// value is kept as the convolution left it until somebody asks for its own order, so that of the transposes between
// layers none is written.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/ops/sources.hpp>
#include <flowgraph/ops/transpose.hpp>
#include "error.hpp"
#include "messages.hpp"

namespace flowgraph::onnx {

// Axis i of the value is axis order[i] of the tensor that holds it. Empty: it is held as it is.
using axis_order = std::vector<int>;

inline axis_order inverse(const axis_order& order) {
  axis_order r(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) r[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return r;
}
// [n, h, w, c] held as [n, c, h, w].
inline const axis_order channels_first{0, 2, 3, 1};

// A node's result.
struct value {
  std::string name;
  extents shape;
  dtype type = dtype::none;
  axis_order order{};
};

inline attribute_proto attribute(std::string name, std::int64_t i) {
  attribute_proto a{std::move(name), attribute_proto::integer};
  a.i = i;
  return a;
}
inline attribute_proto attribute(std::string name, std::vector<std::int64_t> ints) {
  attribute_proto a{std::move(name), attribute_proto::integers};
  a.ints = std::move(ints);
  return a;
}
inline attribute_proto attribute(std::string name, std::string_view s) {
  attribute_proto a{std::move(name), attribute_proto::text};
  a.s = s;
  return a;
}
inline attribute_proto attribute(std::string name, tensor_proto t) {
  attribute_proto a{std::move(name), attribute_proto::tensor};
  a.t = std::move(t);
  return a;
}

inline attribute_proto attribute(std::string name, graph_proto g) {
  attribute_proto a{std::move(name), attribute_proto::graph};
  a.g = std::make_shared<graph_proto>(std::move(g));
  return a;
}

using names = std::vector<std::string>;
using attributes = std::vector<attribute_proto>;

// A reason why a node can't be written; whoever catches it knows the node.
struct not_exportable {
  std::string reason;
};

class graph_writer {
 public:
  explicit graph_writer(const graph_view& g) {
    for (const symbol& s : g.symbol_entries)
      symbols_.intern({g.symbol_chars.data + s.text, static_cast<unsigned>(s.length)});
  }

  graph_proto result;
  std::string label = "graph";  // of the node that is being written; names are made of it

  // Wanted, or with a number behind it.
  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int k = 1; !used_.insert(name).second; ++k) name = wanted + "_" + std::to_string(k);
    return name;
  }

  // One result, or as many as are named.
  std::string emit(std::string op, names inputs, attributes a = {}) {
    std::string out = unique(label + "/" + op);
    emit_into({out}, std::move(op), std::move(inputs), std::move(a));
    return out;
  }
  void emit_into(names outputs, std::string op, names inputs, attributes a = {}) {
    result.nodes.push_back({outputs[0], std::move(op), "", std::move(inputs), std::move(outputs), std::move(a)});
  }

  // Constants. Those of equal content are one.
  const std::string& constant(tensor_proto t) {
    const std::string name = t.name;
    return constants_.emplace(name, std::move(t)).first->first;
  }
  std::string integers(const std::vector<std::int64_t>& values) {
    return shared(dtype::int64, {static_cast<std::int64_t>(values.size())},
                  {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)});
  }
  std::string scalar(dtype type, double v) { return scalar_with(type, ops::number_word(type, v)); }
  // From a word of the graph, as a constant's.
  std::string scalar_with(dtype type, std::int64_t word) { return shared(type, {}, element(type, word)); }
  static std::string element(dtype type, std::int64_t word) {
    std::string bytes;
    flowgraph::detail::with_type(type, [&]<class T>(T) {
      const T x = flowgraph::detail::from_word<T>(word);
      bytes.assign(reinterpret_cast<const char*>(&x), sizeof x);
    });
    return bytes;
  }

  // Where the number of a name is to be found: axis `axis` of the graph's input.
  void bind(const std::string& name, const std::string& input, int axis) { bound_.try_emplace(name, input, axis); }
  flowgraph::symbols& symbols() { return symbols_; }
  std::string_view extent_name(extent e) const { return symbols_.text(e); }

  // An extent as an int64 of shape [1].
  std::string number_of(extent e) { return e >= 0 ? integers({e}) : number_of(symbols_.text(e)); }
  // All of them, as an int64 of shape [rank].
  std::string numbers_of(const extents& e) {
    std::vector<std::int64_t> known;
    for (int i = 0; i < e.rank && e[i] >= 0; ++i) known.push_back(e[i]);
    if (static_cast<int>(known.size()) == e.rank) return integers(known);
    names parts;
    for (int i = 0; i < e.rank; ++i) parts.push_back(number_of(e[i]));
    return parts.size() == 1 ? parts[0] : emit("Concat", parts, {attribute("axis", 0)});
  }

  // To this shape; one extent that has a name need not be computed.
  std::string reshape(const std::string& x, const extents& to) {
    std::vector<std::int64_t> wanted;
    int named = 0;
    bool empty = false;
    for (int i = 0; i < to.rank; ++i) {
      wanted.push_back(to[i] >= 0 ? to[i] : -1);
      named += to[i] < 0;
      empty = empty || to[i] == 0;
    }
    if (empty) return emit("Reshape", {x, numbers_of(to)}, {attribute("allowzero", 1)});
    return emit("Reshape", {x, named <= 1 ? integers(wanted) : numbers_of(to)});
  }

  // The tensor in its own order.
  std::string plain(const value& v) {
    if (v.order.empty()) return v.name;
    return transposed(v.name, v.order);
  }
  // The tensor that holds the value, which broadcasts to `rank` axes, in this order.
  std::string held_as(const value& v, const axis_order& order, int rank) {
    if (order.empty()) return plain(v);
    if (v.order == order && v.shape.rank == rank) return v.name;
    extents wide;
    for (int i = v.shape.rank; i < rank; ++i) wide.push(1);
    for (int i = 0; i < v.shape.rank; ++i) wide.push(v.shape[i]);
    bool single = true;
    for (int i = 0; i < rank; ++i) single = single && wide[i] == 1;
    if (single) return plain(v);
    const axis_order back = inverse(order);
    ops::permutation p{};
    extents held;
    for (int i = 0; i < rank; ++i) {
      p.set(i, back[static_cast<std::size_t>(i)]);
      held.push(wide[back[static_cast<std::size_t>(i)]]);
    }
    std::string x = plain(v);
    if (!ops::reorders(wide, p)) return cached("reshape:" + key(back) + x, [&] { return reshape(x, held); });
    if (v.shape.rank < rank) x = cached("widen:" + std::to_string(rank) + x, [&] { return reshape(x, wide); });
    return transposed(x, back);
  }
  // Transpose(x, perm); of a constant the numbers themselves are moved.
  std::string transposed(const std::string& x, const axis_order& perm) {
    return cached("transpose:" + key(perm) + x, [&] {
      const auto found = constants_.find(x);
      if (found == constants_.end())
        return emit("Transpose", {x}, {attribute("perm", std::vector<std::int64_t>(perm.begin(), perm.end()))});
      tensor_proto t = moved(found->second, perm);
      t.name = unique(x + "_transposed");
      return constant(std::move(t));
    });
  }

  // The nodes that write() emits, as a graph within this one: it sees all that is here, and nobody sees inside.
  template <class F>
  graph_proto within(const F& write) {
    const auto outside = made_;
    std::vector<node_proto> nodes = std::move(result.nodes);
    result.nodes.clear();
    graph_proto inner;
    inner.name = unique(label + "/graph");
    write(inner);
    inner.nodes = std::exchange(result.nodes, std::move(nodes));
    made_ = outside;
    return inner;
  }

  // Constants that some node or output reads become initialisers.
  void finish() {
    std::unordered_set<std::string> read;
    each_operand(result.nodes, [&](const std::string& name) { read.insert(name); });
    for (auto& [name, tensor] : constants_)
      if (read.contains(name)) result.initializers.push_back(std::move(tensor));
  }

 private:
  static std::string key(const axis_order& perm) {
    std::string s;
    for (const int p : perm) s += static_cast<char>('0' + p);
    return s + ":";
  }
  template <class F>
  std::string cached(const std::string& key, const F& make) {
    const auto found = made_.find(key);
    if (found != made_.end()) return found->second;
    return made_[key] = make();
  }

  std::string shared(dtype type, std::vector<std::int64_t> dims, std::string_view bytes) {
    std::string key = "constant:" + std::to_string(code_of(type));
    for (const std::int64_t d : dims) key += "," + std::to_string(d);
    key.append(":").append(bytes);
    return cached(key, [&] {
      return constant({unique("constant"), code_of(type), std::move(dims), std::string(bytes)});
    });
  }

  // A sum of products of names and of "(...)/n", as extents compute.
  std::string number_of(std::string_view text) {
    return cached("extent:" + std::string(text), [&] {
      std::string sum;
      const flowgraph::detail::extent_polynomial p(text);
      for (const flowgraph::detail::extent_term& t : p.terms()) {
        if (t.coefficient == 0) continue;
        std::string product = t.coefficient != 1 || t.count == 0 ? integers({t.coefficient}) : "";
        for (int i = 0; i < t.count; ++i) {
          const std::string factor = atom(t.factors[i].view());
          product = product.empty() ? factor : emit("Mul", {product, factor});
        }
        sum = sum.empty() ? product : emit("Add", {sum, product});
      }
      return sum;
    });
  }
  std::string atom(std::string_view text) {
    if (text[0] == '(') {
      const auto close = text.rfind(")/");
      std::int64_t by = 0;
      for (const char c : text.substr(close + 2)) by = by * 10 + (c - '0');
      const std::string inner = number_of(text.substr(1, close - 1));
      return emit("Div", {inner, integers({by})});
    }
    const auto found = bound_.find(std::string(text));
    if (found == bound_.end()) throw not_exportable{"no input has the extent \"" + std::string(text) + "\""};
    const auto& [input, axis] = found->second;
    return cached("extent:" + std::string(text), [&] {
      return emit("Shape", {input}, {attribute("start", axis), attribute("end", axis + 1)});
    });
  }

  static tensor_proto moved(const tensor_proto& from, const axis_order& perm) {
    tensor_proto to{from.name, from.code, {}, std::string(from.data.size(), '\0')};
    const std::size_t rank = perm.size(), size = static_cast<std::size_t>(size_of(from.type()));
    std::vector<std::size_t> stride(rank, 1), step(rank), index(rank);
    for (std::size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * static_cast<std::size_t>(from.dims[i]);
    for (std::size_t i = 0; i < rank; ++i) {
      to.dims.push_back(from.dims[static_cast<std::size_t>(perm[i])]);
      step[i] = stride[static_cast<std::size_t>(perm[i])];
    }
    std::size_t at = 0;
    for (std::size_t k = 0; k < from.data.size(); k += size) {
      std::memcpy(to.data.data() + k, from.data.data() + at * size, size);
      for (std::size_t i = rank; i-- > 0;) {
        at += step[i];
        if (++index[i] < static_cast<std::size_t>(to.dims[i])) break;
        at -= index[i] * step[i];
        index[i] = 0;
      }
    }
    return to;
  }

  flowgraph::symbols symbols_;
  std::unordered_set<std::string> used_;
  std::map<std::string, tensor_proto> constants_;
  std::unordered_map<std::string, std::string> made_;
  std::unordered_map<std::string, std::pair<std::string, int>> bound_;
};

}  // namespace flowgraph::onnx
