// The half that the compiler runs: everything to write, check, differentiate and plan a graph, and nothing that
// computes one. A header that only defines models includes this; it needs neither Eigen nor fmt.
#pragma once
#include <flowgraph/core/compiler.hpp>  // first: is this compiler one that can read the rest?

#include <flowgraph/core/diagnostics.hpp>  // these two first, so that compilers show a short way to them
#include <flowgraph/graph/op_def.hpp>

#include <flowgraph/functions/concat.hpp>
#include <flowgraph/functions/convolution.hpp>
#include <flowgraph/functions/decode.hpp>
#include <flowgraph/functions/dropout.hpp>
#include <flowgraph/functions/einsum.hpp>
#include <flowgraph/functions/embedding.hpp>
#include <flowgraph/functions/fill.hpp>
#include <flowgraph/functions/gather.hpp>
#include <flowgraph/functions/linalg.hpp>
#include <flowgraph/functions/losses.hpp>
#include <flowgraph/functions/matrix.hpp>
#include <flowgraph/functions/neural.hpp>
#include <flowgraph/functions/normalization.hpp>
#include <flowgraph/functions/partition.hpp>
#include <flowgraph/functions/pooling.hpp>
#include <flowgraph/functions/random.hpp>
#include <flowgraph/functions/reduction.hpp>
#include <flowgraph/functions/reshape.hpp>
#include <flowgraph/functions/sampled_softmax.hpp>
#include <flowgraph/functions/scan.hpp>
#include <flowgraph/functions/slice.hpp>
#include <flowgraph/functions/sort.hpp>
#include <flowgraph/language/apply.hpp>
#include <flowgraph/language/control.hpp>
#include <flowgraph/language/define.hpp>
#include <flowgraph/language/elementwise.hpp>
#include <flowgraph/language/flow.hpp>
#include <flowgraph/language/gradients.hpp>
#include <flowgraph/language/graph.hpp>
#include <flowgraph/language/host_call.hpp>
#include <flowgraph/language/on_devices.hpp>
#include <flowgraph/language/queue.hpp>
#include <flowgraph/language/state.hpp>
#include <flowgraph/language/static_plan.hpp>
#include <flowgraph/language/synchronize.hpp>
#include <flowgraph/training/gradient_lists.hpp>
#include <flowgraph/training/layers.hpp>
#include <flowgraph/training/metrics.hpp>
#include <flowgraph/training/moving_average.hpp>
#include <flowgraph/training/optimizers.hpp>
#include <flowgraph/training/recurrent_layers.hpp>
#include <flowgraph/training/schedules.hpp>
