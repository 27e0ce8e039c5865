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

// Whole numbers from -4 to 3: sums of some thousand products of them are exact in float, in any order.
template <class T>
host_array<T> whole_numbers(std::vector<std::int64_t> dims, unsigned seed) {
  host_array<T> a(std::move(dims));
  for (T& v : a.values) v = static_cast<T>(static_cast<int>((seed = seed * 1664525u + 1013904223u) >> 29) - 4);
  return a;
}
// Numbers of 16 bits all over [-2, 2).
template <class T>
host_array<T> spread_numbers(std::vector<std::int64_t> dims, unsigned seed = 1) {
  host_array<T> a(std::move(dims));
  for (T& v : a.values)
    v = static_cast<T>(static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 16) * 0x1p-14f - 2);
  return a;
}

// What a kernel is given, with one result. It refers to all of it.
template <int Words>
kernel_args arguments(const array_view* in, std::size_t n_in, const array_view* out,
                      const flowgraph::detail::word_block<Words>& attributes) {
  kernel_args k;
  k.in = in;
  k.n_in = static_cast<int>(n_in);
  k.out = out;
  k.n_out = 1;
  k.words = attributes.w;
  k.n_words = Words;
  return k;
}

// The kernel of Op for element type T; the result has the given extents.
template <class Op, class T, class Attrs, class Result = T, class... In>
host_array<Result> run_kernel(const Attrs& attributes, std::vector<std::int64_t> result_dims, In... in) {
  host_array<Result> result(std::move(result_dims));
  const array_view operands[1 + sizeof...(In)] = {in.view()...};
  const array_view out = result.view();
  const auto words = flowgraph::detail::words_of(attributes);
  cpu_kernel<Op>::template run<T>(arguments(operands, sizeof...(In), &out, words));
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
  return provider.prepare(op_def_of<Op>, arguments(operands.data(), operands.size(), &out, words), 1);
}

// Runs what a provider prepares for Op, twice: what is kept from one step to the next must not show.
template <class Op, class Attrs, class... In>
void run_prepared(const kernel_provider& provider, const Attrs& attributes, host_array<float>& result, In&... in) {
  const auto kernel = prepares<Op, float>(provider, attributes, result.dims, {in.dims...});
  if (kernel == nullptr) throw std::runtime_error("the provider does not compute this");
  const array_view operands[1 + sizeof...(In)] = {in.view()...};
  const array_view out = result.view();
  const auto words = flowgraph::detail::words_of(attributes);
  const kernel_args k = arguments(operands, sizeof...(In), &out, words);
  for (int i = 0; i < 2; ++i) {
    std::fill(result.values.begin(), result.values.end(), -1.0f);
    kernel->run(k);
  }
}

}  // namespace flowgraph::testing
