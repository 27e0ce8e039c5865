// Every kernel that the CPU has, and the list from which a dynamic_session's table is filled.
#pragma once
#include "concat.hpp"
#include "conv2d.hpp"
#include "einsum.hpp"
#include "elementwise.hpp"
#include "embedding.hpp"
#include "flow.hpp"
#include "gather.hpp"
#include "host_call.hpp"
#include "linalg.hpp"
#include "matmul.hpp"
#include "pool.hpp"
#include "random.hpp"
#include "range.hpp"
#include "reduction.hpp"
#include "reshape.hpp"
#include "size.hpp"
#include "slice.hpp"
#include "softmax.hpp"
#include "sort.hpp"
#include "sources.hpp"
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

using all_kernels = typename detail::joined<
    elementwise_list, type_list<ops::reshape, ops::identity, ops::stop_gradient>, type_list<ops::concat, ops::split>,
    type_list<ops::conv2d, ops::conv2d_input_gradient, ops::conv2d_filter_gradient>, type_list<ops::einsum>,
    type_list<ops::embedding_lookup, ops::indexed_slices, ops::sum_duplicates>, type_list<ops::print, ops::check>,
    type_list<ops::gather, ops::gather_gradient, ops::gather_nd, ops::scatter_nd, ops::take_along_axis,
              ops::take_along_axis_gradient>,
    type_list<ops::matrix_inverse, ops::matrix_determinant, ops::cofactors, ops::cholesky, ops::solve,
              ops::triangular_solve, ops::band_part, ops::diag_part, ops::diag>,
    type_list<ops::matmul>,
    type_list<ops::max_pool, ops::max_pool_gradient, ops::max_pool_select, ops::avg_pool, ops::avg_pool_gradient,
              ops::neighbour_sum>,
    type_list<ops::random_uniform, ops::random_normal, ops::truncated_normal, ops::bernoulli, ops::random_permutation>,
    type_list<ops::range, ops::one_hot, ops::shape>,
    type_list<ops::reduce_sum, ops::reduce_prod, ops::reduce_max, ops::reduce_min, ops::reduce_any, ops::reduce_all,
              ops::logsumexp, ops::norm, ops::product_of_others, ops::product_of_others_gradient>,
    type_list<ops::broadcast_to>, type_list<ops::size>,
    type_list<ops::slice, ops::pad, ops::strided_slice, ops::strided_slice_gradient>,
    type_list<ops::softmax, ops::log_softmax, ops::sparse_softmax_cross_entropy, ops::softmax_minus_one_hot>,
    type_list<ops::argsort, ops::top_k, ops::argmax, ops::argmin, ops::cumsum>, type_list<ops::constant, ops::group>,
    type_list<ops::assign, ops::assign_add, ops::assign_sub, ops::scatter_add, ops::scatter_sub, ops::scatter_update>,
    type_list<ops::tile, ops::reverse>, type_list<ops::transpose>>::type;

}  // namespace flowgraph
