// Runs one CPU kernel on arrays, without a graph: for what a graph can't say, such as NaN, empty axes or sizes that
// only a kernel's inner blocks notice.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <flowgraph/kernels/kernel.hpp>
#include <flowgraph/kernels/provider.hpp>

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

// What a provider gives for Op on these extents; null where it leaves the op to the library.
template <class Op, class T, class Attrs>
std::unique_ptr<prepared_kernel> prepares(const kernel_provider& provider, const Attrs& attributes,
                                          const std::vector<std::int64_t>& result,
                                          const std::vector<std::vector<std::int64_t>>& in) {
  const auto view = [](const std::vector<std::int64_t>& dims) {
    return array_view{nullptr, dims.data(), static_cast<int>(dims.size()), flowgraph::detail::dtype_of<T>};
  };
  std::vector<array_view> operands;
  for (const auto& dims : in) operands.push_back(view(dims));
  const array_view out = view(result);
  const auto words = flowgraph::detail::words_of(attributes);
  kernel_args k;
  k.in = operands.data();
  k.n_in = static_cast<int>(operands.size());
  k.out = &out;
  k.n_out = 1;
  k.words = words.w;
  k.n_words = flowgraph::detail::attr_words<Attrs>;
  return provider.prepare(op_def_of<Op>, k, 1);
}

// Runs what a provider prepares for Op, twice: what is kept from one step to the next must not show.
template <class Op, class Attrs, class... In>
void run_prepared(const kernel_provider& provider, const Attrs& attributes, host_array<float>& result, In&... in) {
  const auto kernel = prepares<Op, float>(provider, attributes, result.dims, {in.dims...});
  if (kernel == nullptr) throw std::runtime_error("the provider does not compute this");
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
  for (int i = 0; i < 2; ++i) {
    std::fill(result.values.begin(), result.values.end(), -1.0f);
    kernel->run(k);
  }
}

}  // namespace flowgraph::testing
