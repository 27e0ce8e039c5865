// Ops that move or compare elements, in every element type, against the referees.
#include <doctest/doctest.h>

#include <flowgraph/functions/concat.hpp>
#include <flowgraph/functions/fill.hpp>
#include <flowgraph/functions/gather.hpp>
#include <flowgraph/functions/matrix.hpp>
#include <flowgraph/functions/reshape.hpp>
#include <flowgraph/functions/slice.hpp>
#include <flowgraph/functions/sort.hpp>
#include <support/op_rows.hpp>
#include <support/type_suffix.hpp>

namespace fg = flowgraph;
using fg::testing::in_type;
using fg::testing::op_rows;

namespace {

template <class T, int... E>
using t = fg::tensor<T, E...>;

template <class T>
void check_moves() {
  const op_rows rows("types");
  rows.row_as_is<t<T, 2, 3, 5>>(in_type<T>("transpose"), [](auto x) { return fg::transpose<2, 0, 1>(x); });
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("slice"), [](auto x) { return fg::slice<fg::from<1, 2>, 2, 3>(x); });
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("strided_slice"), [](auto x) {
    return fg::strided_slice<fg::from<0, -1>, fg::to<3, -6>, fg::by<2, -2>>(x);
  });
  rows.row_as_is<t<T, 2, 3>>(in_type<T>("pad"), [](auto x) { return fg::pad<1, 0, 0, 2>(x, 1); });
  rows.row_as_is<t<T, 2, 3>>(in_type<T>("tile"), [](auto x) { return fg::tile<2, 2>(x); });
  rows.row_as_is<t<T, 3, 5>>(in_type<T>("reverse"), [](auto x) { return fg::reverse<1>(x); });
  rows.row_as_is<t<T, 3, 1>>(in_type<T>("broadcast_to"), [](auto x) { return fg::broadcast_to<2, 3, 5>(x); });
  rows.row_as_is<t<T, 2, 3>, t<T, 2, 1>>(in_type<T>("concat"), [](auto a, auto b) { return fg::concat<1>(a, b); });
  rows.row_as_is<t<T, 5, 3>, t<std::int64_t, 3>>(in_type<T>("gather"),
                                                 [](auto x, auto i) { return fg::gather<0>(x, i); });
  rows.row_as_is<t<T, 3, 5>, t<std::int32_t, 2, 2>>(in_type<T>("gather_nd"),
                                                    [](auto x, auto i) { return gather_nd(x, i); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("argmax"), [](auto x) { return fg::argmax<1>(x); });
  rows.row_as_is<t<T, 3, 7>>(in_type<T>("argmin"), [](auto x) { return fg::argmin<0>(x); });
  rows.row_as_is<t<T, 2, 7>>(in_type<T>("top_k"), [](auto x) { return fg::top_k<3>(x); });
  rows.row_as_is<t<std::int64_t, 3>>(in_type<T>("one_hot"), [](auto i) { return fg::one_hot<4, T>(i); });
}

}  // namespace

TEST_CASE("bool moved") { check_moves<bool>(); }
TEST_CASE("int8 moved") { check_moves<std::int8_t>(); }
TEST_CASE("uint8 moved") { check_moves<std::uint8_t>(); }
TEST_CASE("int32 moved") { check_moves<std::int32_t>(); }
TEST_CASE("int64 moved") { check_moves<std::int64_t>(); }
TEST_CASE("half moved") { check_moves<fg::half>(); }
TEST_CASE("bfloat16 moved") { check_moves<fg::bfloat16>(); }
