// The half that the compiler runs: everything to write, check, differentiate and plan a graph, and nothing that
// computes one. A header that only defines models includes this; it needs neither Eigen nor fmt.
#pragma once
#include <flowgraph/core/diagnostics.hpp>  // first, so that compilers show a short way to it
#include <flowgraph/dsl/apply.hpp>
#include <flowgraph/dsl/concat.hpp>
#include <flowgraph/dsl/control.hpp>
#include <flowgraph/dsl/convolution.hpp>
#include <flowgraph/dsl/define.hpp>
#include <flowgraph/dsl/dropout.hpp>
#include <flowgraph/dsl/einsum.hpp>
#include <flowgraph/dsl/elementwise.hpp>
#include <flowgraph/dsl/embedding.hpp>
#include <flowgraph/dsl/fill.hpp>
#include <flowgraph/dsl/flow.hpp>
#include <flowgraph/dsl/gather.hpp>
#include <flowgraph/dsl/gradient_lists.hpp>
#include <flowgraph/dsl/gradients.hpp>
#include <flowgraph/dsl/graph.hpp>
#include <flowgraph/dsl/host_call.hpp>
#include <flowgraph/dsl/layers.hpp>
#include <flowgraph/dsl/linalg.hpp>
#include <flowgraph/dsl/losses.hpp>
#include <flowgraph/dsl/matrix.hpp>
#include <flowgraph/dsl/metrics.hpp>
#include <flowgraph/dsl/moving_average.hpp>
#include <flowgraph/dsl/neural.hpp>
#include <flowgraph/dsl/normalization.hpp>
#include <flowgraph/dsl/optimizers.hpp>
#include <flowgraph/dsl/pooling.hpp>
#include <flowgraph/dsl/random.hpp>
#include <flowgraph/dsl/reduction.hpp>
#include <flowgraph/dsl/reshape.hpp>
#include <flowgraph/dsl/schedules.hpp>
#include <flowgraph/dsl/slice.hpp>
#include <flowgraph/dsl/sort.hpp>
#include <flowgraph/dsl/state.hpp>
#include <flowgraph/dsl/static_plan.hpp>
