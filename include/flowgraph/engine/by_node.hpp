// What belongs to some of a graph's nodes, found by their numbers.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <utility>

#include <flowgraph/core/list.hpp>

namespace flowgraph::detail {

template <class T>
class by_node {
 public:
  // Nodes are added in their order.
  void add(int node, T value) {
    nodes_.push_back(node);
    values_.push_back(std::move(value));
  }
  const T& at(int node) const {
    std::size_t first = 0, last = nodes_.size();
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if (nodes_[middle] < node)
        first = middle + 1;
      else
        last = middle;
    }
    if (first == nodes_.size() || nodes_[first] != node) throw std::out_of_range("no such node");
    return values_[first];
  }

 private:
  list<int> nodes_;
  list<T> values_;
};

}  // namespace flowgraph::detail
