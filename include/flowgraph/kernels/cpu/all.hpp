// Every kernel that the CPU has, and the list from which a dynamic_session's table is filled.
#pragma once
#include "concat.hpp"
#include "control.hpp"
#include "conv2d.hpp"
#include "count_up_to.hpp"
#include "einsum.hpp"
#include "elementwise.hpp"
#include "embedding.hpp"
#include "flow.hpp"
#include "gather.hpp"
#include "linalg.hpp"
#include "matmul.hpp"
#include "partition.hpp"
#include "pool.hpp"
#include "random.hpp"
#include "range.hpp"
#include "reduction.hpp"
#include "rows.hpp"
#include "size.hpp"
#include "slice.hpp"
#include "softmax.hpp"
#include "sort.hpp"
#include "sources.hpp"
#include "stack.hpp"
#include "state.hpp"
#include "tile.hpp"
#include "transpose.hpp"

namespace flowgraph {

namespace detail {

template <class... Lists>
struct joined;
template <class... A>
struct joined<type_list<A...>> {
  using type = type_list<A...>;
};
template <class... A, class... B, class... Rest>
struct joined<type_list<A...>, type_list<B...>, Rest...> {
  using type = typename joined<type_list<A..., B...>, Rest...>::type;
};

}  // namespace detail

using all_kernels =
    typename detail::joined<concat_kernels, control_kernels, conv2d_kernels, count_up_to_kernels, einsum_kernels,
                            elementwise_kernels, embedding_kernels, flow_kernels, gather_kernels, linalg_kernels,
                            matmul_kernels, partition_kernels, pool_kernels, random_kernels, range_kernels,
                            reduction_kernels, rows_kernels, size_kernels, slice_kernels, softmax_kernels, sort_kernels,
                            sources_kernels, stack_kernels, state_kernels, tile_kernels, transpose_kernels>::type;

}  // namespace flowgraph
