// Runs one CPU kernel on arrays, without a graph: for what a graph can't say, such as NaN, empty axes or sizes that
// only a kernel's inner blocks notice.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <flowgraph/kernels/kernel.hpp>

namespace flowgraph::testing {

template <class T>
struct host_array {
  std::vector<std::int64_t> dims;
  std::vector<T> values;

  host_array(std::vector<std::int64_t> d, std::vector<T> v) : dims(std::move(d)), values(std::move(v)) {}
  explicit host_array(std::vector<std::int64_t> d) : dims(std::move(d)) {
    std::int64_t n = 1;
    for (const std::int64_t e : dims) n *= e;
    values.resize(static_cast<std::size_t>(n));
  }
  array_view view() {
    return {values.data(), dims.data(), static_cast<int>(dims.size()), flowgraph::detail::dtype_of<T>};
  }
};

// The kernel of Op for element type T; the result has the given extents.
template <class Op, class T, class Attrs, class Result = T, class... In>
host_array<Result> run_kernel(const Attrs& attributes, std::vector<std::int64_t> result_dims, In... in) {
  host_array<Result> result(std::move(result_dims));
  const array_view operands[1 + sizeof...(In)] = {in.view()...};
  const array_view out = result.view();
  const auto words = flowgraph::detail::words_of(attributes);
  kernel_args k;
  k.in = operands;
  k.n_in = static_cast<int>(sizeof...(In));
  k.out = &out;
  k.n_out = 1;
  k.words = words.w;
  k.n_words = flowgraph::detail::attr_words<Attrs>;
  cpu_kernel<Op>::template run<T>(k);
  return result;
}

}  // namespace flowgraph::testing
