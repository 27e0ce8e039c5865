// What nodes are called in pictures: every one has a path of scopes and a name that no other has.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <flowgraph/graph/node.hpp>

namespace flowgraph::detail {

// "layer1/w" as the user named it, or the scope it was made in, its op and its number: "layer1/matmul_17". What stands
// in a region is in the scope of who runs it: "cond_9/region1/mul_7".
class node_paths {
 public:
  explicit node_paths(const graph_view& g) : g_(g), paths_(static_cast<std::size_t>(g.size())) {
    std::vector<std::string_view> names(paths_.size());
    for (const name_entry& e : g.names) {
      std::string_view& name = names[static_cast<std::size_t>(e.node)];
      if (name.empty()) name = g.text(e.text);
    }
    // Owners stand behind their regions: from the back, whoever runs a node has a path already.
    for (int i = g.size() - 1; i >= 0; --i) {
      const std::string_view name = names[static_cast<std::size_t>(i)];
      paths_[static_cast<std::size_t>(i)] = unused(name.empty() ? made_up(i) : std::string(name));
    }
  }

  const std::string& operator[](int node) const { return paths_[static_cast<std::size_t>(node)]; }

 private:
  std::string made_up(int i) const {
    const node& n = g_.nodes[i];
    std::string path;
    if (n.region != 0) {
      const region& r = g_.regions[n.region];
      path = (*this)[r.owner] + "/region" + std::to_string(n.region - g_.nodes[r.owner].first_region + 1) + '/';
    } else if (g_.origins[i].scope != 0) {
      path = std::string(g_.text(g_.texts[g_.origins[i].scope])) + '/';
    }
    return path + std::string(n.op->name) + '_' + std::to_string(i);
  }
  // TensorBoard reads ':' and '^' in a name as outputs and control edges.
  std::string unused(std::string path) {
    std::replace_if(
        path.begin(), path.end(), [](char c) { return c == ':' || c == '^'; }, '_');
    std::string tried = path;
    for (int k = 1; !used_.insert(tried).second; ++k) tried = path + '_' + std::to_string(k);
    return tried;
  }

  const graph_view& g_;
  std::vector<std::string> paths_;
  std::unordered_set<std::string> used_;
};

}  // namespace flowgraph::detail
