// The element types that the CPU's kernels of the library's ops come in, as data: who plans a step can tell that it has
// no kernel without the kernels' code. kernels/cpu/table.hpp, where that code is, holds the two to be the same.
#pragma once
#include <cstdint>
#include <string_view>

#include <flowgraph/core/hash.hpp>
#include "kernel_use.hpp"

namespace flowgraph::detail {

struct kernel_types {
  std::uint64_t op = 0;     // 0: none
  std::uint32_t types = 0;  // a bit for each dtype of the operand that decides
  int deciding = 0;         // which operand that is; -1: the result

  constexpr bool operator==(const kernel_types&) const = default;
};

constexpr std::uint32_t types_of(auto... t) { return ((std::uint32_t{1} << static_cast<int>(t)) | ...); }

// The type that decides for a use. Without operands the result's does.
constexpr dtype deciding_type(const kernel_use& use, int deciding) {
  return deciding < 0 || use.in[deciding] == dtype::none ? use.out : use.in[deciding];
}

class kernel_type_table {
 public:
  constexpr kernel_type_table() {
    using enum dtype;
    constexpr std::uint32_t indices = types_of(int32, int64), plain_floats = types_of(float32, float64),
                            floats = plain_floats | types_of(float16, bfloat16),
                            whole = types_of(int8, uint8) | indices, numbers = floats | whole,
                            truth = types_of(boolean), all = numbers | truth, any = all | types_of(none);
    add(truth, 0, "logical_not check reduce_any reduce_all");
    add(truth, 1, "logical_and logical_or logical_xor");
    add(indices, 0, "count_up_to random_permutation part_positions");
    add(plain_floats, 0, "matrix_inverse matrix_determinant cofactors cholesky solve triangular_solve");
    add(floats, 0,
        "conv2d conv2d_input_gradient conv2d_filter_gradient exp log log1p expm1 sqrt rsqrt reciprocal sin cos tan tanh "
        "sigmoid softplus erf floor ceil round isnan isfinite check_numerics max_pool max_pool_gradient max_pool_select "
        "avg_pool avg_pool_gradient neighbour_sum random_normal truncated_normal dropout logsumexp norm "
        "product_of_others product_of_others_gradient add_rows softmax log_softmax sparse_softmax_cross_entropy "
        "softmax_minus_one_hot");
    add(floats, 1, "div pow indexed_slices sum_duplicates");
    add(floats | indices, 0, "random_uniform");
    add(numbers, -1, "size");
    add(numbers, 0,
        "einsum neg abs sign square relu matmul range reduce_sum reduce_prod reduce_max reduce_min cumsum assign_add "
        "assign_sub scatter_add scatter_sub");
    add(numbers, 1,
        "relu_gradient add sub mul floordiv mod maximum minimum gather_gradient scatter_nd take_along_axis_gradient "
        "segment_sum");
    add(all, -1, "one_hot");
    add(all, 0,
        "concat split broadcast_to embedding_lookup print gather gather_nd take_along_axis band_part diag_part diag "
        "bernoulli shape set_rows slice pad strided_slice strided_slice_gradient argsort top_k argmax argmin constant "
        "assign scatter_update tile reverse transpose lookup_some");
    add(all, 1, "dynamic_stitch equal not_equal less less_equal greater greater_equal");
    add(all, 2, "select");
    add(any, 0, "enter next_iteration merge switch exit cast turn unset group stack_push stack_pop");
  }

  // Its op is 0: the library's kernels don't have this one.
  constexpr const kernel_types& of(std::uint64_t op) const { return rows_[slot_of(op)]; }
  constexpr bool computes(const kernel_use& use) const {
    const kernel_types& t = of(use.op);
    return t.op != 0 && (t.types & types_of(deciding_type(use, t.deciding))) != 0;
  }
  constexpr int size() const { return used_; }

 private:
  static constexpr int room = 512;

  constexpr int slot_of(std::uint64_t op) const {
    auto i = static_cast<int>((op ^ (op >> 32)) % room);
    while (rows_[i].op != 0 && rows_[i].op != op) i = (i + 1) % room;
    return i;
  }
  constexpr void add(std::uint32_t types, int deciding, std::string_view names) {
    while (!names.empty()) {
      const std::size_t end = names.find(' ') < names.size() ? names.find(' ') : names.size();
      const std::uint64_t op = hash(names.substr(0, end));
      rows_[slot_of(op)] = {op, types, deciding};
      ++used_;
      names.remove_prefix(end < names.size() ? end + 1 : end);
    }
  }

  kernel_types rows_[room]{};
  int used_ = 0;
};

// A template, so that the compiler makes it where a session asks.
template <class Tag = void>
inline constexpr kernel_type_table library_kernel_types;

}  // namespace flowgraph::detail
