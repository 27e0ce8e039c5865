// Learning rates that change with the number of steps done: functions from it to a rate, on graph ops, so that the step
// that trains computes its own rate. Any function of the same form serves an optimizer as well.
//   fg::adam(fg::warm_up(500, fg::cosine_decay(1e-3, 10'000))).minimize(loss)
#pragma once
#include <string_view>
#include <type_traits>

#include <flowgraph/language/elementwise.hpp>
#include "optimizer.hpp"

namespace flowgraph {

namespace detail {

// What a schedule gives for a number that is no schedule.
template <class Schedule>
constexpr auto scheduled(const Schedule& s, tensor<float> done) {
  if constexpr (number<Schedule>)
    return literal_tensor<float>(done.graph->where, *done.graph, s);
  else
    return s(done);
}

// The numbers of a schedule are checked where it is asked for a rate, as those of an optimizer are.
template <class Schedule>
constexpr void check_schedule(const Schedule& s, tensor<float> done, std::string_view name) {
  if (const problem p = s.check(); p != problem::none) done.graph->fail(p, name);
}

}  // namespace detail

// initial factor^(t / every); in stairs: floor(t / every). Calls are templates, so that a file without a schedule does
// not pay for the ops of one.
struct exponential_decay {
  double initial;
  double factor;
  double every;
  bool stairs = false;

  constexpr exponential_decay(double initial_rate, double factor_each, double steps_each, bool in_stairs = false)
      : initial(initial_rate),
        factor(factor_each),
        every(steps_each),
        stairs(in_stairs) {}
  constexpr problem check() const {
    if (!detail::finite_positive(initial)) return problem::learning_rate;
    return detail::finite_positive(factor) && detail::finite_positive(every) ? problem::none : problem::hyper_parameter;
  }
  template <class Steps = tensor<float>>
  constexpr tensor<float> operator()(std::type_identity_t<Steps> done) const {
    detail::check_schedule(*this, done, stairs ? "step_decay" : "exponential_decay");
    const auto turns = done / every;
    const auto power = stairs ? floor(turns) : turns;
    return pow(detail::literal_tensor<float>(done.graph->where, *done.graph, factor), power) * initial;
  }
};

// Multiplied by factor after every so many steps.
constexpr exponential_decay step_decay(double initial, double factor, double every) {
  return {initial, factor, every, true};
}

// From initial to last on half a wave of a cosine, then last.
struct cosine_decay {
  double initial;
  double steps;
  double last = 0;

  constexpr cosine_decay(double initial_rate, double over_steps, double last_rate = 0)
      : initial(initial_rate),
        steps(over_steps),
        last(last_rate) {}
  constexpr problem check() const {
    if (!detail::finite_positive(initial)) return problem::learning_rate;
    return detail::finite_positive(steps) && detail::finite_or_zero(last) ? problem::none : problem::hyper_parameter;
  }
  template <class Steps = tensor<float>>
  constexpr tensor<float> operator()(std::type_identity_t<Steps> done) const {
    detail::check_schedule(*this, done, "cosine_decay");
    const auto wave = cos(minimum(done / steps, 1) * 3.141592653589793);
    return (wave + 1) * ((initial - last) / 2) + last;
  }
};

// values[k] from step boundaries[k - 1] on; boundaries are above 0 and ascend, and a rate of 0 is a rest:
// piecewise_constant({1000, 2000}, {0.1, 0.01, 0.001}).
template <int N>
struct piecewise_constant {
  double boundaries[N];
  double values[N + 1];

  // The number of rates is deduced: an array of N + 1 would fill up with zeros.
  template <int Rates>
  constexpr piecewise_constant(const double (&at)[N], const double (&rates)[Rates]) {
    static_assert(Rates == N + 1, "piecewise_constant takes one rate more than boundaries");
    for (int i = 0; i < N; ++i) boundaries[i] = at[i];
    for (int i = 0; i <= N; ++i) values[i] = rates[i < Rates ? i : 0];
  }
  constexpr problem check() const {
    for (const double rate : values)
      if (!detail::finite_or_zero(rate)) return problem::learning_rate;
    for (int i = 0; i < N; ++i)
      if (!detail::finite_positive(boundaries[i]) || (i > 0 && boundaries[i] <= boundaries[i - 1]))
        return problem::hyper_parameter;
    return problem::none;
  }
  template <class Steps = tensor<float>>
  constexpr tensor<float> operator()(std::type_identity_t<Steps> done) const {
    detail::check_schedule(*this, done, "piecewise_constant");
    tensor<float> rate = detail::literal_tensor<float>(done.graph->where, *done.graph, values[0]);
    for (int i = 0; i < N; ++i) rate = select(done >= boundaries[i], values[i + 1], rate);
    return rate;
  }
};

// Grows linearly over the first steps, reaching the first rate of `then` with the last of them; then follows it. Over 0
// steps it is `then`.
template <class Then>
struct warm_up {
  double steps;
  Then then;

  constexpr warm_up(double over_steps, const Then& schedule) : steps(over_steps), then(schedule) {}
  constexpr problem check() const {
    return detail::finite_or_zero(steps) ? detail::check_rate(then) : problem::hyper_parameter;
  }
  template <class Steps = tensor<float>>
  constexpr tensor<float> operator()(std::type_identity_t<Steps> done) const {
    detail::check_schedule(*this, done, "warm_up");
    const auto grown = minimum((done + 1) / steps, 1);
    return detail::scheduled(then, maximum(done - steps, 0)) * grown;
  }
};

}  // namespace flowgraph
