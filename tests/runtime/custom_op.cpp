// An op in a user's file: the one of docs/custom_ops.md, in both kinds of sessions, with gradients of gradients.
#include <doctest/doctest.h>

#include <vector>

#include <flowgraph.hpp>

namespace fg = flowgraph;

namespace {

// y[i] = x[i] * gain + x[i-1], along the last axis; x[-1] is 0.
struct echo : fg::op<echo, "echo"> {
  struct attrs {
    double gain;
  };
  static constexpr void infer(fg::inference& f) {
    f.require(fg::is_floating(f.type(0)), fg::problem::needs_floating);
    f.require(f.in(0).rank >= 1, fg::problem::operand_rank);
    f.out(f.in(0), f.type(0));
  }
  static constexpr void gradient(fg::gradient_step& g);
};
struct echo_transposed : fg::op<echo_transposed, "echo_transposed"> {
  using attrs = echo::attrs;
  static constexpr void infer(fg::inference& f) { echo::infer(f); }
  static constexpr void gradient(fg::gradient_step& g) { g.to(0, fg::emit<echo>(g.attrs<attrs>(), g.dy())); }
};
constexpr void echo::gradient(fg::gradient_step& g) { g.to(0, fg::emit<echo_transposed>(g.attrs<attrs>(), g.dy())); }

template <class T, bool Transposed>
void run_echo(const fg::kernel_args& k) {
  const auto gain = static_cast<T>(k.attrs<echo::attrs>().gain);
  const T* x = k.in[0].as<T>();
  T* y = k.out[0].as<T>();
  const std::int64_t n = k.in[0].last(0), rows = n == 0 ? 0 : k.in[0].size() / n;
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t neighbour = Transposed ? i + 1 : i - 1;
      y[i] = x[i] * gain + (neighbour >= 0 && neighbour < n ? x[neighbour] : T(0));
    }
}

}  // namespace

template <>
struct fg::cpu_kernel<echo> {
  using types = fg::type_list<float, double>;
  template <class T>
  static void run(const fg::kernel_args& k) {
    run_echo<T, false>(k);
  }
};
template <>
struct fg::cpu_kernel<echo_transposed> {
  using types = fg::type_list<float, double>;
  template <class T>
  static void run(const fg::kernel_args& k) {
    run_echo<T, true>(k);
  }
};

namespace {

const fg::register_kernel<echo> echo_kernel;
const fg::register_kernel<echo_transposed> echo_transposed_kernel;

constexpr fg::dim time_steps{"time"};

constexpr auto build = [](fg::graph& g) {
  auto x = g.placeholder<double, time_steps>("x");
  auto y = g.name("y", fg::apply<echo, echo::attrs{.gain = 0.5}>(x));
  auto dx = g.name("dx", gradients(reduce_sum(y * square(y)), x));
  g.name("ddx", gradients(reduce_sum(square(dx)), x));
};

// By hand: y = A x with A[i][i] = gain, A[i][i-1] = 1; dx = At 3y^2; ddx = At diag(6y) A 2dx.
struct by_hand {
  std::vector<double> y, dx, ddx;
  explicit by_hand(const std::vector<double>& x) {
    const std::size_t n = x.size();
    y.resize(n), dx.resize(n), ddx.resize(n);
    const auto forward = [n](const std::vector<double>& v) {
      std::vector<double> r(n);
      for (std::size_t i = 0; i < n; ++i) r[i] = v[i] * 0.5 + (i > 0 ? v[i - 1] : 0);
      return r;
    };
    const auto backward = [n](const std::vector<double>& v) {
      std::vector<double> r(n);
      for (std::size_t i = 0; i < n; ++i) r[i] = v[i] * 0.5 + (i + 1 < n ? v[i + 1] : 0);
      return r;
    };
    y = forward(x);
    std::vector<double> t(n);
    for (std::size_t i = 0; i < n; ++i) t[i] = 3 * y[i] * y[i];
    dx = backward(t);
    std::vector<double> u = dx;
    for (double& v : u) v *= 2;
    u = forward(u);
    for (std::size_t i = 0; i < n; ++i) u[i] *= 6 * y[i];
    ddx = backward(u);
  }
};

void check_near(const auto& got, const std::vector<double>& expected) {
  REQUIRE(static_cast<std::size_t>(got.size()) == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(got.data()[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

}  // namespace

inline constexpr auto echo_model = fg::define(build);

TEST_CASE("a user's op runs and differentiates in a session of a constexpr model") {
  const std::vector<double> x{1, -2, 3, 0.5, 4};
  const by_hand expected(x);
  fg::session<echo_model> s;
  const auto [y, dx, ddx] = s.run<"y", "dx", "ddx">(fg::feed<"x">(x));
  check_near(y, expected.y);
  check_near(dx, expected.dx);
  check_near(ddx, expected.ddx);
}

TEST_CASE("and in a session of a graph that is built at run time") {
  const std::vector<double> x{1, -2, 3};
  fg::graph g;
  auto in = g.placeholder<double, time_steps>("x");
  auto y = fg::apply<echo, echo::attrs{.gain = 0.5}>(in);
  auto dx = gradients(reduce_sum(y * square(y)), in);
  fg::dynamic_session s(g);
  const auto [values, derivatives] = s.run(y, dx, fg::feed(in, x));
  const by_hand expected(x);
  check_near(values, expected.y);
  check_near(derivatives, expected.dx);
}
