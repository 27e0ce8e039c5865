// Ops that draw random numbers. They have no operands: the numbers follow from the session's seed, the node and the
// step, so that a step is the same on any number of threads.
#pragma once
#include <flowgraph/graph/builder.hpp>

namespace flowgraph::ops {

template <class Self, fixed_string Name>
struct random_source : op<Self, Name> {
  static constexpr trait traits = trait::random;
  static constexpr void infer(inference& f) {
    f.require(is_floating(f.declared_type()), problem::needs_floating);
    f.out(f.declared(), f.declared_type());
  }
};

// In [low, high); integers as well, as long as the bounds fit a double.
struct random_uniform : random_source<random_uniform, "random_uniform"> {
  struct attrs {
    double low;
    double high;
  };
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.declared_type() >= dtype::int32, problem::dtype_unsupported);
    f.out(f.declared(), f.declared_type());
  }
};

struct normal_attrs {
  double mean;
  double deviation;
};

struct random_normal : random_source<random_normal, "random_normal"> {
  using attrs = normal_attrs;
};

// As random_normal, drawn again where it lies more than two deviations from the mean.
struct truncated_normal : random_source<truncated_normal, "truncated_normal"> {
  using attrs = normal_attrs;
};

// 1 (or true) with this probability, else 0.
struct bernoulli : random_source<bernoulli, "bernoulli"> {
  struct attrs {
    double probability;
  };
  static constexpr void infer(inference& f) { f.out(f.declared(), f.declared_type()); }
};

// The numbers from 0 to n-1 in a random order.
struct random_permutation : random_source<random_permutation, "random_permutation"> {
  static FLOWGRAPH_CONSTEXPR void infer(inference& f) {
    f.require(f.declared_type() == dtype::int32 || f.declared_type() == dtype::int64, problem::needs_integer);
    f.require(f.declared().rank == 1, problem::operand_rank);
    f.out(f.declared(), f.declared_type());
  }
};

}  // namespace flowgraph::ops
