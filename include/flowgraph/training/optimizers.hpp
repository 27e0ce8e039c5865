// Optimizers, composed from graph ops: each says how one variable follows its gradient g. Their state is ordinary
// variables named after the one they serve ("w1/momentum"). A rate is a number, a scalar tensor or a schedule
// (training/schedules.hpp). Of an embedding only the rows that a step looked up are moved, and only their state
// changes.
#pragma once
#include <flowgraph/ops/binary.hpp>
#include "optimizer.hpp"

namespace flowgraph {

// w -= rate g
template <class Rate>
struct gradient_descent : optimizer<gradient_descent<Rate>> {
  static constexpr std::string_view name = "gradient_descent";
  Rate rate;

  constexpr explicit gradient_descent(const Rate& learning_rate = detail::missing_rate<Rate>()) : rate(learning_rate) {}

  constexpr void update(update_step& s) const {
    // Linear in the gradient: rows of equal index need not be added up first.
    if (s.is_sparse()) return s.run(emit<ops::scatter_sub>(s.variable, s.indices(), s.rows() * s.rate));
    s.subtract(s.gradient() * s.rate);
  }
};

// v = momentum v + g;  w -= rate v, or with Nesterov w -= rate (g + momentum v)
template <class Rate>
struct momentum : optimizer<momentum<Rate>> {
  static constexpr std::string_view name = "momentum";
  Rate rate;
  double decay;
  bool nesterov;

  constexpr explicit momentum(const Rate& learning_rate = detail::missing_rate<Rate>(), double momentum_decay = 0.9,
                              bool use_nesterov = false)
      : rate(learning_rate),
        decay(momentum_decay),
        nesterov(use_nesterov) {}

  constexpr problem check() const { return detail::within(decay, 0, 1) ? problem::none : problem::hyper_parameter; }
  constexpr void update(update_step& s) const {
    const ref v = s.slot("momentum", 0), g = s.gradient();
    const ref next = s.value(v) * decay + g;
    s.set(v, next);
    s.subtract((nesterov ? g + next * decay : next) * s.rate);
  }
};

// a += g^2;  w -= rate g / (sqrt(a) + epsilon)
template <class Rate>
struct adagrad : optimizer<adagrad<Rate>> {
  static constexpr std::string_view name = "adagrad";
  Rate rate;
  double initial;
  double epsilon;

  constexpr explicit adagrad(const Rate& learning_rate = detail::missing_rate<Rate>(), double initial_accumulator = 0.1,
                             double denominator_epsilon = 1e-7)
      : rate(learning_rate),
        initial(initial_accumulator),
        epsilon(denominator_epsilon) {}

  constexpr problem check() const { return initial >= 0 && epsilon >= 0 ? problem::none : problem::hyper_parameter; }
  constexpr void update(update_step& s) const {
    const ref a = s.slot("accumulator", initial), g = s.gradient();
    const ref next = s.value(a) + emit<ops::square>(g);
    s.set(a, next);
    s.subtract(g * s.rate / (emit<ops::sqrt>(next) + epsilon));
  }
};

// a = rho a + (1 - rho) g^2;  d = g sqrt(b + epsilon) / sqrt(a + epsilon);  b = rho b + (1 - rho) d^2;  w -= rate d
template <class Rate>
struct adadelta : optimizer<adadelta<Rate>> {
  static constexpr std::string_view name = "adadelta";
  Rate rate;
  double rho;
  double epsilon;

  constexpr explicit adadelta(const Rate& learning_rate = detail::missing_rate<Rate>(), double decay = 0.9,
                              double denominator_epsilon = 1e-6)
      : rate(learning_rate),
        rho(decay),
        epsilon(denominator_epsilon) {}

  constexpr problem check() const {
    return detail::within(rho, 0, 1) && epsilon > 0 ? problem::none : problem::hyper_parameter;
  }
  constexpr void update(update_step& s) const {
    const ref squares = s.slot("squares", 0), deltas = s.slot("deltas", 0), g = s.gradient();
    const ref a = s.value(squares) * rho + emit<ops::square>(g) * (1 - rho), before = s.value(deltas);
    const ref d = emit<ops::sqrt>(before + epsilon) / emit<ops::sqrt>(a + epsilon) * g;
    s.set(squares, a);
    s.set(deltas, before * rho + emit<ops::square>(d) * (1 - rho));
    s.subtract(d * s.rate);
  }
};

struct rmsprop_parameters {
  double rho = 0.99;
  double momentum = 0;
  double epsilon = 1e-8;
  bool centered = false;
};

// a = rho a + (1 - rho) g^2;  d = g / (sqrt(a) + epsilon);  v = momentum v + d;  w -= rate v. Centered: the square of
// the mean gradient is taken from a.
template <class Rate>
struct rmsprop : optimizer<rmsprop<Rate>> {
  static constexpr std::string_view name = "rmsprop";
  using parameters = rmsprop_parameters;
  Rate rate;
  parameters with;

  constexpr explicit rmsprop(const Rate& learning_rate = detail::missing_rate<Rate>(), const parameters& p = {})
      : rate(learning_rate),
        with(p) {}

  constexpr problem check() const {
    const bool ok = detail::within(with.rho, 0, 1) && detail::within(with.momentum, 0, 1) && with.epsilon >= 0;
    return ok ? problem::none : problem::hyper_parameter;
  }
  constexpr void update(update_step& s) const {
    const ref squares = s.slot("squares", 0), g = s.gradient();
    ref a = s.value(squares) * with.rho + emit<ops::square>(g) * (1 - with.rho);
    s.set(squares, a);
    if (with.centered) {
      const ref mean = s.slot("mean", 0), m = s.value(mean) * with.rho + g * (1 - with.rho);
      s.set(mean, m);
      a = a - emit<ops::square>(m);
    }
    const ref d = g / (emit<ops::sqrt>(a) + with.epsilon);
    if (with.momentum == 0) return s.subtract(d * s.rate);
    const ref v = s.slot("momentum", 0), next = s.value(v) * with.momentum + d;
    s.set(v, next);
    s.subtract(next * s.rate);
  }
};

struct adam_parameters {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  constexpr problem check() const {
    const bool ok = detail::within(beta1, 0, 1) && detail::within(beta2, 0, 1) && epsilon >= 0;
    return ok ? problem::none : problem::hyper_parameter;
  }
  // m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
  // gives m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) at step t.
  constexpr ref direction(update_step& s) const {
    const ref mean = s.slot("mean", 0), squares = s.slot("squares", 0), g = s.gradient(), t = s.step();
    const ref m = s.value(mean) * beta1 + g * (1 - beta1);
    const ref v = s.value(squares) * beta2 + emit<ops::square>(g) * (1 - beta2);
    s.set(mean, m);
    s.set(squares, v);
    const ref m_bias = s.in_type(1.0 - emit<ops::pow>(ops::scalar_like(t, beta1), t));
    const ref v_bias = s.in_type(emit<ops::sqrt>(1.0 - emit<ops::pow>(ops::scalar_like(t, beta2), t)));
    return m / m_bias / (emit<ops::sqrt>(v) / v_bias + epsilon);
  }
};

// Adam (Kingma and Ba 2015).
template <class Rate>
struct adam : optimizer<adam<Rate>> {
  static constexpr std::string_view name = "adam";
  using parameters = adam_parameters;
  Rate rate;
  parameters with;

  constexpr explicit adam(const Rate& learning_rate = detail::missing_rate<Rate>(), const parameters& p = {})
      : rate(learning_rate),
        with(p) {}

  constexpr problem check() const { return with.check(); }
  constexpr void update(update_step& s) const { s.subtract(with.direction(s) * s.rate); }
};

// Adam with decoupled weight decay: w -= rate (direction + weight_decay w).
template <class Rate>
struct adamw : optimizer<adamw<Rate>> {
  static constexpr std::string_view name = "adamw";
  using parameters = adam_parameters;
  Rate rate;
  double weight_decay;
  parameters with;

  constexpr explicit adamw(const Rate& learning_rate = detail::missing_rate<Rate>(), double decay = 0.01,
                           const parameters& p = {})
      : rate(learning_rate),
        weight_decay(decay),
        with(p) {}

  constexpr problem check() const { return weight_decay >= 0 ? with.check() : problem::hyper_parameter; }
  constexpr void update(update_step& s) const {
    const ref decay = s.value() * weight_decay;
    s.subtract((with.direction(s) + decay) * s.rate);
  }
};

struct ftrl_parameters {
  double l1 = 0;
  double l2 = 0;
  double initial_accumulator = 0.1;
};

// Follow the regularised leader (McMahan et al. 2013): weights that the loss hardly needs become exactly 0.
//   n' = n + g^2;  z += g - (sqrt(n') - sqrt(n)) / rate w;  w = (clip(z, -l1, l1) - z) / (sqrt(n') / rate + 2 l2)
template <class Rate>
struct ftrl : optimizer<ftrl<Rate>> {
  static constexpr std::string_view name = "ftrl";
  using parameters = ftrl_parameters;
  Rate rate;
  parameters with;

  constexpr explicit ftrl(const Rate& learning_rate = detail::missing_rate<Rate>(), const parameters& p = {})
      : rate(learning_rate),
        with(p) {}

  constexpr problem check() const {
    return with.l1 >= 0 && with.l2 >= 0 && with.initial_accumulator > 0 ? problem::none : problem::hyper_parameter;
  }
  constexpr void update(update_step& s) const {
    const ref squares = s.slot("squares", with.initial_accumulator), linear = s.slot("linear", 0);
    const ref g = s.gradient(), w = s.value(), n = s.value(squares);
    const ref next = n + emit<ops::square>(g), root = emit<ops::sqrt>(next);
    const ref z = s.value(linear) + g - (root - emit<ops::sqrt>(n)) / s.rate * w;
    const ref clipped =
        emit<ops::minimum>(emit<ops::maximum>(z, ops::scalar_like(z, -with.l1)), ops::scalar_like(z, with.l1));
    s.set(squares, next);
    s.set(linear, z);
    s.set(s.variable, (clipped - z) / (root / s.rate + 2 * with.l2));
  }
};

struct lion_parameters {
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
};

// Lion (Chen et al. 2023): w -= rate (sign(beta1 m + (1 - beta1) g) + weight_decay w);  m = beta2 m + (1 - beta2) g
template <class Rate>
struct lion : optimizer<lion<Rate>> {
  static constexpr std::string_view name = "lion";
  using parameters = lion_parameters;
  Rate rate;
  parameters with;

  constexpr explicit lion(const Rate& learning_rate = detail::missing_rate<Rate>(), const parameters& p = {})
      : rate(learning_rate),
        with(p) {}

  constexpr problem check() const {
    const bool ok = detail::within(with.beta1, 0, 1) && detail::within(with.beta2, 0, 1) && with.weight_decay >= 0;
    return ok ? problem::none : problem::hyper_parameter;
  }
  constexpr void update(update_step& s) const {
    const ref mean = s.slot("mean", 0), g = s.gradient(), m = s.value(mean);
    ref direction = emit<ops::sign>(m * with.beta1 + g * (1 - with.beta1));
    if (with.weight_decay != 0) direction = direction + s.value() * with.weight_decay;
    s.set(mean, m * with.beta2 + g * (1 - with.beta2));
    s.subtract(direction * s.rate);
  }
};

// Made with something that is no rate, or with nothing.
#define FLOWGRAPH_NO_RATE(optimizer)                                    \
  template <detail::not_a_rate Rate, class... Rest>                     \
  optimizer(const Rate&, const Rest&...) -> optimizer<detail::no_rate>; \
  optimizer() -> optimizer<detail::no_rate>;
FLOWGRAPH_NO_RATE(gradient_descent)
FLOWGRAPH_NO_RATE(momentum)
FLOWGRAPH_NO_RATE(adagrad)
FLOWGRAPH_NO_RATE(adadelta)
FLOWGRAPH_NO_RATE(rmsprop)
FLOWGRAPH_NO_RATE(adam)
FLOWGRAPH_NO_RATE(adamw)
FLOWGRAPH_NO_RATE(ftrl)
FLOWGRAPH_NO_RATE(lion)
#undef FLOWGRAPH_NO_RATE

}  // namespace flowgraph
