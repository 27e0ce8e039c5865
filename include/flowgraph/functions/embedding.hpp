// Rows of a table by their numbers.
#pragma once
#include <flowgraph/language/graph.hpp>
#include <flowgraph/ops/embedding.hpp>

namespace flowgraph {

// y[..., :] = table[indices[...], :]. Indices are int32 or int64, each below the table's first extent.
template <any_tensor Table, any_tensor Indices>
constexpr auto embedding_lookup(const Table& table, const Indices& indices, caller where = {}) {
  return detail::call<ops::embedding_lookup>(where, tensor_t<Table>(table), tensor_t<Indices>(indices));
}

// Calls that fit none of these.
FLOWGRAPH_MISUSE(embedding_lookup, 3, not_two_tensors_first,
                 "embedding_lookup takes a table and a tensor of indices, as in embedding_lookup(table, indices)")

}  // namespace flowgraph
