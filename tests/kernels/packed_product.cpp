// Products whose right operand stays packed, held to plain loops: where tiles and panels end, and when it is packed
// again.
#include <flowgraph/kernels/cpu/packed_product.hpp>

#include <doctest/doctest.h>

#include "support/run_kernel.hpp"

namespace {

using namespace flowgraph;
using flowgraph::testing::host_array, flowgraph::testing::whole_numbers;

struct product {
  host_array<float> a, b, y;
  bool tb;
  std::uint64_t version = 1;
  array_view in[2], out;
  detail::word_block<detail::attr_words<ops::matmul::attrs>> words;
  kernel_args k;
  std::unique_ptr<prepared_kernel> kernel;

  product(std::int64_t m, std::int64_t depth, std::int64_t n, bool transpose_b, bool versioned = true)
      : a(whole_numbers<float>({m, depth}, 3)),
        b(whole_numbers<float>(transpose_b ? std::vector{n, depth} : std::vector{depth, n}, 5)),
        y({m, n}),
        tb(transpose_b),
        in{a.view(), b.view()},
        out(y.view()),
        words(detail::words_of(ops::matmul::attrs{0, transpose_b})) {
    if (versioned) in[1].version = &version;
    k = testing::arguments(in, 2, &out, words);
    kernel = detail::packed_product::make(op_def_of<ops::matmul>, k);
  }
  product(const product&) = delete;

  const std::vector<float>& run() {
    y.values.assign(y.values.size(), -1);
    kernel->run(k);
    return y.values;
  }
  std::vector<float> expected() const {
    const std::int64_t m = a.dims[0], depth = a.dims[1], n = y.dims[1];
    std::vector<float> sums(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t l = 0; l < depth; ++l)
        for (std::int64_t j = 0; j < n; ++j)
          sums[static_cast<std::size_t>(i * n + j)] +=
              a.values[static_cast<std::size_t>(i * depth + l)] *
              b.values[static_cast<std::size_t>(tb ? j * depth + l : l * n + j)];
    return sums;
  }
};

}  // namespace

TEST_CASE("packed products: remainders of rows, columns and panels, both orientations") {
  if (!detail::has_register_tiles()) return;
  for (const bool tb : {false, true})
    for (const std::int64_t m : {4, 12, 13, 16, 25})
      for (const std::int64_t n : {64, 65, 80, 95, 97}) {
        CAPTURE(tb);
        CAPTURE(m);
        CAPTURE(n);
        product p(m, 67, n, tb);
        REQUIRE(p.kernel != nullptr);
        CHECK(p.run() == p.expected());
        CHECK(p.run() == p.expected());
      }
  product parts(32, 256, 500, true);  // more than one part
  CHECK(parts.run() == parts.expected());
}

TEST_CASE("packed products: the right operand is packed again when its version or its address changes") {
  if (!detail::has_register_tiles()) return;
  product p(8, 64, 64, false);
  const std::vector<float> before = p.run();
  for (float& v : p.b.values) v += 1;
  CHECK(p.run() == before);  // nobody said that it has changed
  ++p.version;
  CHECK(p.run() == p.expected());
  CHECK(p.expected() != before);
  host_array<float> other = whole_numbers<float>({64, 64}, 4);
  p.b.values.swap(other.values);
  p.in[1].data = p.b.values.data();
  CHECK(p.run() == p.expected());
}

TEST_CASE("packed products: others keep their kernels") {
  CHECK(product(8, 64, 64, false, false).kernel == nullptr);  // changes with every call
  CHECK(product(1, 64, 64, false).kernel == nullptr);
  CHECK(product(8, 8, 8, false).kernel == nullptr);
  CHECK(product(500, 64, 64, false).kernel == nullptr);
}
