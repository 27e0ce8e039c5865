// Random graphs over the op set, each from its seed alone: forward ops on tensors of several types and shapes, and the
// gradient of a loss. A constexpr function, so that the same graph can be built by the compiler and by the program.
//
// Graphs are made to be compared in floating point. What grows is brought back to (-1, 1) by tanh, divisors and
// arguments of logarithms keep away from 0, and ops that jump (comparisons, rounding, sorting, indices of extrema) read
// exact values only: fed or stored numbers, and rearrangements of them.
#pragma once
#include <cstdint>

#include <flowgraph/define.hpp>

namespace random_graph {

namespace fg = flowgraph;
namespace ops = flowgraph::ops;
using fg::dtype;
using fg::emit;
using fg::emit_as;
using fg::extent;
using fg::extents;
using fg::ref;

inline constexpr fg::dim batch{"batch"};
inline constexpr int outputs = 5;

struct value {
  ref tensor;
  bool exact = false;  // the same bits however it is computed
};

class generator {
 public:
  // Halves and bfloat16s take part only where they are asked for: they need another tolerance.
  constexpr generator(fg::graph& g, std::uint64_t seed, bool halves) : g_(g.data()), state_(seed), halves_(halves) {
    leaf(g.placeholder<float, batch, 4>("x"));
    leaf(g.placeholder<float, 3, 4>("y"));
    leaf(g.placeholder<double, batch>("d"));
    leaf(g.placeholder<float, batch, 6, 6, 2>("image"));
    leaf(g.placeholder<std::int64_t, batch>("classes"));  // 0, 1 or 2
    leaf(g.placeholder<std::int32_t, 3, 4>("counts"));
    leaf(g.variable<float, 4, 4>("w", fg::init::normal(0, 0.6)));
    leaf(g.variable<float, 4>("b", fg::init::uniform(-1, 1)));
    leaf(g.variable<float, 3, 3, 2, 2>("filter", fg::init::normal(0, 0.3)));
    leaf(g.variable<double, 4, 4>("m", fg::init::normal(0, 0.5)));
    leaves_ = values_.size();
    const int last = g_.size() + 5 + pick(56);
    for (int tries = 0; g_.size() < last && tries < 400; ++tries) grow();
    finish();
  }

 private:
  static constexpr int x_ = 0, d_ = 2, image_ = 3, classes_ = 4, counts_ = 5, w_ = 6, b_ = 7, filter_ = 8;

  // splitmix64
  constexpr std::uint64_t random() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  constexpr int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

  template <class Tensor>
  constexpr void leaf(const Tensor& t) {
    values_.push({static_cast<ref>(t), true});
  }
  constexpr void add(ref r, bool exact = false) { values_.push({r, exact}); }
  constexpr value leaf_at(int i) const { return values_[i]; }

  // A value that fits, late ones more often; or this leaf.
  template <class Fits>
  constexpr value any(const Fits& fits, int otherwise) {
    for (int tries = 0; tries < 12; ++tries) {
      const int n = values_.size(), a = pick(n), b = pick(n);
      const value v = values_[a > b ? a : b];
      if (fits(v)) return v;
    }
    return values_[otherwise];
  }
  static constexpr bool is_float(value v) { return v.tensor.type() == dtype::float32; }
  static constexpr bool is_wide(value v) { return is_float(v) || v.tensor.type() == dtype::float64; }
  constexpr value any_wide() {
    return any([](value v) { return is_wide(v); }, x_);
  }
  constexpr value any_exact() {
    return any([](value v) { return v.exact && is_wide(v) && v.tensor.rank() > 0; }, x_);
  }

  // Not so many elements that a test takes long.
  static constexpr bool is_small(const extents& e) {
    std::int64_t n = 1;
    for (int i = 0; i < e.rank; ++i) n *= e[i] >= 0 ? e[i] : 6;
    return n <= 1500 && e.rank <= 5;
  }
  static constexpr bool is_number(extent e) { return e >= 0; }
  static constexpr bool broadcasts(const extents& a, const extents& b) {
    extents r = a.rank > b.rank ? a : b;
    for (int i = 0; i < r.rank; ++i) {
      const extent x = i < a.rank ? a.last(i) : 1, y = i < b.rank ? b.last(i) : 1;
      if (x != y && x != 1 && y != 1) return false;
      r[r.rank - 1 - i] = x == 1 ? y : x;
    }
    return is_small(r);
  }
  static constexpr ref cast(ref x, dtype type) { return x.type() == type ? x : emit_as<ops::cast>(x.shape(), type, x); }
  // Above 0.5.
  static constexpr ref positive(ref x) { return emit<ops::square>(x) + 0.5; }
  static constexpr std::int64_t mask(int axis) { return std::int64_t{1} << axis; }

  constexpr void grow() {
    switch (pick(30)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return unary();
      case 4:
      case 5:
      case 6:
      case 7:
        return binary();
      case 8:
      case 9:
        return matmul();
      case 10:
      case 11:
        return reduce();
      case 12:
        return transpose();
      case 13:
        return reshape();
      case 14:
        return concat();
      case 15:
        return cut();
      case 16:
        return pad();
      case 17:
        return repeat();
      case 18:
        return along_axis();
      case 19:
        return rows();
      case 20:
        return sort();
      case 21:
      case 22:
        return slide();
      case 23:
        return convert();
      case 24:
        return select();
      case 25:
        return solve();
      case 26:
        return draw();
      case 27:
        return classify();
      case 28:
        return integers();
      default:
        return round();
    }
  }

  constexpr void unary() {
    const value v = any([this](value u) { return is_wide(u) || (halves_ && is_floating(u.tensor.type())); }, x_);
    const ref x = v.tensor;
    switch (pick(20)) {
      case 0:
        return add(-x);
      case 1:
        return add(emit<ops::tanh>(x));
      case 2:
        return add(emit<ops::sigmoid>(x));
      case 3:
        return add(emit<ops::sin>(x));
      case 4:
        return add(emit<ops::cos>(x));
      case 5:
        return add(emit<ops::softplus>(x));
      case 6:
        return add(emit<ops::erf>(x));
      case 7:
        return add(emit<ops::relu>(x));
      case 8:
        return add(emit<ops::abs>(x));
      case 9:
        return add(emit<ops::square>(emit<ops::tanh>(x)));
      case 10:
        return add(emit<ops::exp>(emit<ops::tanh>(x)));
      case 11:
        return add(emit<ops::expm1>(emit<ops::tanh>(x)));
      case 12:
        return add(emit<ops::log>(positive(x)));
      case 13:
        return add(emit<ops::log1p>(positive(x)));
      case 14:
        return add(emit<ops::sqrt>(positive(x)));
      case 15:
        return add(emit<ops::rsqrt>(positive(x)));
      case 16:
        return add(emit<ops::reciprocal>(positive(x)));
      case 17:
        return add(emit<ops::tan>(emit<ops::tanh>(x)));
      case 18:
        return add(x * 0.5 + 0.25);
      default:
        return add(emit<ops::identity>(x), v.exact);
    }
  }

  constexpr void binary() {
    const value a = any([this](value u) { return is_wide(u) || (halves_ && is_floating(u.tensor.type())); }, x_);
    const ref x = a.tensor;
    const value other =
        any([&](value u) { return u.tensor.type() == x.type() && broadcasts(x.shape(), u.tensor.shape()); }, w_);
    ref y = other.tensor;
    if (y.type() != x.type() || !broadcasts(x.shape(), y.shape())) y = x;
    switch (pick(8)) {
      case 0:
      case 1:
        return add(x + y);
      case 2:
        return add(x - y);
      case 3:
        return add(emit<ops::tanh>(x * y));
      case 4:
        return add(x / positive(y));
      case 5:
        return add(emit<ops::maximum>(x, y));
      case 6:
        return add(emit<ops::minimum>(x, y));
      default:
        return add(emit<ops::pow>(positive(x), emit<ops::tanh>(y)));
    }
  }

  // Of any two matrices that meet, either of them transposed; or by w.
  constexpr void matmul() {
    const ref a = any([](value v) { return is_wide(v) && v.tensor.rank() >= 2; }, x_).tensor;
    const bool ta = pick(3) == 0;
    const extent inner = a.shape().last(ta ? 1 : 0);
    bool tb = false;
    const ref b = any(
                      [&](value v) {
                        const extents e = v.tensor.shape();
                        if (v.tensor.type() != a.type() || e.rank < 2) return false;
                        if (e.rank > 2 && e.rank != a.rank()) return false;
                        for (int i = 0; i < e.rank - 2; ++i)
                          if (e[i] != a.shape()[i]) return false;
                        tb = e.last(1) != inner;
                        return (tb ? e.last(0) : e.last(1)) == inner;
                      },
                      w_)
                      .tensor;
    const extents e = b.shape();
    if (b.type() != a.type() || (tb ? e.last(0) : e.last(1)) != inner) return;
    if (a.rank() == 2 && b.rank() == 2 && pick(3) == 0 && !ta && !tb) {
      return add(emit<ops::tanh>(emit<ops::einsum>({ops::pack("ij,jk->ki"), 0}, a, b)));
    }
    add(emit<ops::tanh>(emit<ops::matmul>({ta, tb}, a, b) * 0.5));
  }

  constexpr void reduce() {
    const ref x = any([](value v) { return is_wide(v) && v.tensor.rank() > 0; }, x_).tensor;
    std::int64_t axes = 0;
    for (int i = 0; i < x.rank(); ++i)
      if (pick(2) == 0) axes |= mask(i);
    if (axes == 0) axes = mask(pick(x.rank()));
    const ops::reduce_attrs a{axes, pick(2)};
    switch (pick(7)) {
      case 0:
      case 1:
        return add(emit<ops::tanh>(emit<ops::reduce_sum>(a, x) * 0.2));
      case 2:
        return add(emit<ops::reduce_max>(a, x));
      case 3:
        return add(emit<ops::reduce_min>(a, x));
      case 4:
        return add(emit<ops::reduce_prod>(a, emit<ops::tanh>(x)));
      case 5:
        return add(emit<ops::logsumexp>(a, x));
      default:
        return add(emit<ops::norm>(a, x + 2.0) * 0.1);
    }
  }

  constexpr void transpose() {
    const value v = any([](value u) { return u.tensor.rank() >= 2; }, x_);
    const int rank = v.tensor.rank();
    ops::permutation p{};
    for (int i = 0; i < rank; ++i) p.set(i, i);
    for (int i = rank - 1; i > 0; --i) {
      const int k = pick(i + 1), saved = p.axis(i);
      p.set(i, p.axis(k));
      p.set(k, saved);
    }
    add(emit<ops::transpose>(p, v.tensor), v.exact);
  }

  // Joins two axes, or cuts an even one in two.
  constexpr void reshape() {
    const value v = any([](value u) { return u.tensor.rank() >= 1; }, x_);
    const extents e = v.tensor.shape();
    const int axis = pick(e.rank);
    extents r;
    for (int i = 0; i < e.rank; ++i) {
      if (i == axis && i + 1 < e.rank && is_number(e[i]) && is_number(e[i + 1])) {
        r.push(e[i] * e[i + 1]);
        ++i;
      } else if (i == axis && is_number(e[i]) && e[i] % 2 == 0 && e.rank < 5) {
        r.push(2);
        r.push(e[i] / 2);
      } else {
        r.push(e[i]);
      }
    }
    add(emit_as<ops::reshape>(r, v.tensor.type(), v.tensor), v.exact);
  }

  constexpr void concat() {
    const value a = any([](value v) { return v.tensor.rank() >= 1 && is_small(v.tensor.shape()); }, x_);
    const value b =
        any([&](value v) { return v.tensor.type() == a.tensor.type() && v.tensor.shape() == a.tensor.shape(); }, x_);
    const value c = b.tensor.type() == a.tensor.type() && b.tensor.shape() == a.tensor.shape() ? b : a;
    add(emit<ops::concat>({pick(a.tensor.rank())}, a.tensor, c.tensor), a.exact && c.exact);
  }

  // A box, or every other element backwards.
  constexpr void cut() {
    const value v = any([](value u) { return u.tensor.rank() >= 1; }, x_);
    const extents e = v.tensor.shape();
    if (pick(2) == 0) {
      ops::box_attrs a{};
      extents r = e;
      for (int i = 0; i < e.rank; ++i)
        if (e[i] >= 2) {
          a.begin[i] = pick(static_cast<int>(e[i]) - 1);
          r[i] = 1 + pick(static_cast<int>(e[i] - a.begin[i]));
        }
      return add(emit_as<ops::slice>(r, v.tensor.type(), a, v.tensor), v.exact);
    }
    ops::stride_attrs s{};
    for (int i = 0; i < fg::max_rank; ++i) {
      s.begin[i] = s.end[i] = ops::axis_edge;
      s.stride[i] = i < e.rank && is_number(e[i]) ? (pick(2) == 0 ? -1 : 2) : 1;
    }
    add(emit<ops::strided_slice>(s, v.tensor), v.exact);
  }

  constexpr void pad() {
    const value v = any([](value u) { return is_wide(u) && u.tensor.rank() >= 1 && is_small(u.tensor.shape()); }, x_);
    extents r = v.tensor.shape();
    ops::pad::attrs a{};
    a.value = ops::literal_word(0.5);
    for (int i = 0; i < r.rank; ++i)
      if (is_number(r[i]) && pick(2) == 0) {
        a.begin[i] = pick(2);
        r[i] += a.begin[i] + pick(2);
      }
    if (is_small(r)) add(emit_as<ops::pad>(r, v.tensor.type(), a, v.tensor));
  }

  constexpr void repeat() {
    const value v = any([](value u) { return u.tensor.rank() >= 1; }, x_);
    if (pick(2) == 0) return add(emit<ops::reverse>({mask(pick(v.tensor.rank()))}, v.tensor), v.exact);
    ops::tile::attrs a{};
    extents r = v.tensor.shape();
    for (int i = 0; i < fg::max_rank; ++i) a.count[i] = 1;
    const int axis = pick(r.rank);
    a.count[axis] = 2;
    if (is_number(r[axis])) r[axis] *= 2;
    if (is_small(r)) add(emit<ops::tile>(a, v.tensor), v.exact);
  }

  constexpr void along_axis() {
    const ref x = any([](value v) { return is_wide(v) && v.tensor.rank() >= 1; }, x_).tensor;
    const int axis = pick(x.rank());
    switch (pick(3)) {
      case 0:
        return add(emit<ops::softmax>({axis}, x));
      case 1:
        return add(emit<ops::log_softmax>({axis}, x));
      default:
        return add(emit<ops::tanh>(emit<ops::cumsum>({axis, pick(2), pick(2)}, x) * 0.3));
    }
  }

  // Rows of a table by the classes that are fed.
  constexpr void rows() {
    const value table = any(
        [](value v) { return is_wide(v) && v.tensor.rank() >= 1 && v.tensor.rank() < 4 && v.tensor.shape()[0] >= 3; },
        w_);
    const ref classes = leaf_at(classes_).tensor;
    switch (pick(3)) {
      case 0:
        return add(emit<ops::gather>(ops::gather_attrs{0}, table.tensor, classes), table.exact);
      case 1:
        return add(emit<ops::embedding_lookup>(table.tensor, classes), table.exact);
      default: {
        extents r = classes.shape();
        r.push(3);
        return add(emit_as<ops::one_hot>(r, dtype::float32, {ops::literal_word(1.0), ops::literal_word(-0.5)}, classes),
                   true);
      }
    }
  }

  constexpr void sort() {
    const ref x = any_exact().tensor;
    const int axis = pick(x.rank());
    switch (pick(4)) {
      case 0:
        return add(emit<ops::take_along_axis>({axis}, x, emit<ops::argsort>({axis, pick(2)}, x)), true);
      case 1:
        return add(cast(emit<ops::argmax>({axis}, x), dtype::float32) * 0.25, true);
      case 2:
        return add(cast(emit<ops::argmin>({axis}, x), dtype::float32) * 0.25, true);
      default:
        if (!is_number(x.shape().last(0)) || x.shape().last(0) < 2) return;
        return add({&g_, emit<ops::top_k>({2}, x).id + 1}, true);
    }
  }

  constexpr void slide() {
    const ref x = any(
                      [](value v) {
                        const extents e = v.tensor.shape();
                        return is_float(v) && e.rank == 4 && e[1] >= 3 && e[2] >= 3 && is_number(e[3]);
                      },
                      image_)
                      .tensor;
    const bool same = pick(2) == 0;
    const int stride = 1 + pick(2);
    if (pick(2) == 0 && x.shape()[3] == 2) {
      fg::conv c;
      c.stride[0] = c.stride[1] = stride;
      c.padding = same ? fg::same : fg::valid;
      return add(emit<ops::tanh>(emit<ops::conv2d>(c, x, leaf_at(filter_).tensor)));
    }
    fg::pool p;
    p.stride[0] = p.stride[1] = stride;
    p.padding = same ? fg::same : fg::valid;
    add(pick(2) == 0 ? emit<ops::max_pool>(p, x) : emit<ops::avg_pool>(p, x));
  }

  constexpr void convert() {
    const value v = any_wide();
    const int to = pick(halves_ ? 4 : 2);
    if (to >= 2) return add(cast(v.tensor, to == 2 ? dtype::float16 : dtype::bfloat16));
    add(cast(v.tensor, to == 0 ? dtype::float64 : dtype::float32), v.exact);
  }

  constexpr void select() {
    const value left = any_exact();
    const ref x = left.tensor;
    ref truth = emit<ops::greater>(x, x * 0.0 + 0.1);
    if (pick(2) == 0) truth = emit<ops::logical_xor>(truth, emit<ops::less_equal>(x, x * 0.0 - 0.4));
    if (pick(3) == 0) {
      const ops::reduce_attrs all{mask(pick(x.rank())), pick(2)};
      const ref some = pick(2) == 0 ? emit<ops::reduce_any>(all, truth) : emit<ops::reduce_all>(all, truth);
      return add(cast(emit<ops::logical_not>(some), dtype::float32), true);
    }
    const ref y = any(
                      [&](value v) {
                        return v.tensor.type() == x.type() && broadcasts(x.shape(), v.tensor.shape()) &&
                               v.tensor.rank() <= x.rank();
                      },
                      x_)
                      .tensor;
    const bool fits = y.type() == x.type() && y.rank() <= x.rank() && broadcasts(x.shape(), y.shape());
    add(emit<ops::select>(truth, x, fits ? y : -x));
  }

  // With a symmetric matrix whose eigenvalues are at least 2.
  constexpr void solve() {
    const ref a = any(
                      [](value v) {
                        const extents e = v.tensor.shape();
                        return is_wide(v) && e.rank == 2 && e[0] == e[1] && is_number(e[0]) && e[0] <= 6;
                      },
                      w_)
                      .tensor;
    const ref t = emit<ops::tanh>(a);
    const ref row = emit<ops::reduce_sum>({mask(0), 0}, t);
    const ref s = emit<ops::matmul>(ops::matmul::attrs{0, 1}, t, t) + emit<ops::diag>(ops::full_like(row, 2));
    switch (pick(4)) {
      case 0:
        return add(emit<ops::matrix_inverse>(s));
      case 1:
        return add(emit<ops::solve>(ops::solve::attrs{0}, s, a));
      case 2:
        return add(emit<ops::cholesky>(s));
      default:
        return add(emit<ops::tanh>(emit<ops::matrix_determinant>(s) * 0.01));
    }
  }

  constexpr void draw() {
    extents shape = any_wide().tensor.shape();
    if (!is_small(shape)) return;
    const auto words = fg::detail::words_of(ops::random_uniform::attrs{-1, 1});
    add({&g_, fg::detail::append_inferred(g_, fg::op_def_of<ops::random_uniform>, nullptr, 0, words.w, 2, shape,
                                          dtype::float32)},
        true);
  }

  constexpr void classify() {
    const extent n = leaf_at(classes_).tensor.shape()[0];
    const ref logits = any(
                           [&](value v) {
                             const extents e = v.tensor.shape();
                             return is_wide(v) && e.rank == 2 && e[0] == n && e[1] >= 3;
                           },
                           x_)
                           .tensor;
    add(emit<ops::sparse_softmax_cross_entropy>(logits, leaf_at(classes_).tensor));
  }

  constexpr void integers() {
    const value v =
        any([](value u) { return u.tensor.type() == dtype::int32 || u.tensor.type() == dtype::int64; }, counts_);
    const ref x = v.tensor, three = ops::full_like(x, 3);
    switch (pick(6)) {
      case 0:
        return add(x + three, true);
      case 1:
        return add(emit<ops::floordiv>(x * three, ops::full_like(x, 2)), true);
      case 2:
        return add(emit<ops::mod>(x, three), true);
      case 3:
        return add(emit<ops::maximum>(x, three), true);
      case 4:
        if (x.rank() == 0) return;
        return add(emit<ops::mod>(emit<ops::reduce_sum>({mask(pick(x.rank())), 0}, x), ops::scalar_like(x, 7)), true);
      default:
        return add(cast(emit<ops::mod>(x, three), dtype::float32) * 0.5, true);
    }
  }

  constexpr void round() {
    const ref x = any_exact().tensor * 3.0;
    switch (pick(4)) {
      case 0:
        return add(emit<ops::floor>(x) * 0.25, true);
      case 1:
        return add(emit<ops::ceil>(x) * 0.25, true);
      case 2:
        return add(emit<ops::round>(x) * 0.25, true);
      default:
        return add(emit<ops::sign>(x), true);
    }
  }

  // Doubles in a row, whatever they were.
  constexpr ref flat(ref x) {
    const extents row{1, {g_.symbols.product(x.shape())}};
    return emit_as<ops::reshape>(row, dtype::float64, cast(x, dtype::float64));
  }
  constexpr ref total(ref x) {
    const ref d = cast(x, dtype::float64);
    return x.rank() == 0 ? d : emit<ops::reduce_sum>({mask(x.rank()) - 1, 0}, d);
  }

  // "out0" to "out4": two of the late values, and gradients of a loss on several by w, b and x. The first one also
  // depends on all that is fed, so that every graph takes the same feeds.
  constexpr void finish() {
    ref sum{};
    for (int i = 0; i < leaves_; ++i)
      if (values_[i].tensor.is(fg::op_def_of<ops::placeholder>)) {
        const ref t = total(values_[i].tensor) * 0.001;
        sum = sum ? sum + t : t;
      }
    ref loss{};
    const int late = values_.size() - 1;
    for (int i = late; i > late - 6 && i >= 0; --i) {
      const ref v = values_[i].tensor;
      if (!is_wide(values_[i])) continue;
      const ref t = total(emit<ops::tanh>(v)) * 0.1;
      loss = loss ? loss + t : t;
    }
    if (!loss) loss = total(emit<ops::square>(leaf_at(x_).tensor));
    const int by[] = {leaf_at(w_).tensor.id, leaf_at(b_).tensor.id, leaf_at(x_).tensor.id};
    int derivatives[3]{};
    fg::passes::gradient(g_, loss.id, by, 3, derivatives);
    g_.name((flat(values_[late].tensor) + sum).id, "out0");
    g_.name(flat(values_[leaves_ + (late - leaves_) / 2].tensor).id, "out1");
    g_.name(flat({&g_, derivatives[0]}).id, "out2");
    g_.name(flat({&g_, derivatives[1]}).id, "out3");
    g_.name((flat({&g_, derivatives[2]}) + loss).id, "out4");
  }

  fg::graph_data& g_;
  std::uint64_t state_;
  bool halves_;
  fg::detail::vec<value> values_;
  int leaves_ = 0;
};

// Every fourth graph has halves in it.
constexpr bool has_halves(std::uint64_t seed) { return seed % 4 == 3; }

constexpr void build(fg::graph& g, std::uint64_t seed) { generator(g, seed, has_halves(seed)); }

}  // namespace random_graph
