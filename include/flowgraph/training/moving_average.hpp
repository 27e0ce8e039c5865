// Exponential moving averages of variables, as evaluation likes them better than the last step's values.
#pragma once
#include <flowgraph/ops/binary.hpp>
#include "optimizer.hpp"

namespace flowgraph {

// s = decay s + (1 - decay) w at each update; the average is s / (1 - decay^n) after n of them, so that it does not
// lean to where s began.
//   fg::moving_average average(w, 0.999);
//   { auto after = g.control_dependencies(train); g.name("average", average.update()); }
//   auto y = matmul(x, average.value());
template <any_variable Variable>
class moving_average {
 public:
  constexpr moving_average(const Variable& v, double decay, caller where = {}) : variable_(v), decay_(decay) {
    graph_data& g = *v.graph;
    g.where = where;
    if (!detail::within(decay, 0, 1)) g.fail(problem::hyper_parameter, "moving_average");
    text_range name{};
    for (int i = g.names.size(); i-- > 0;)
      if (g.names[i].node == v.id) name = g.names[i].text;
    const ref w{&g, v.id};
    sum_ = detail::add_state(g, w.get().shape, w.type(), 0, name, "average");
    updates_ = detail::add_state(g, 0, dtype::int64, 0, name, "averages");
  }

  constexpr operation update() const {
    const ref w{variable_.graph, variable_.id};
    const int both[] = {emit<ops::assign>(sum_, sum_ * decay_ + w * (1 - decay_)).id,
                        emit<ops::assign_add>(updates_, ops::scalar_like(updates_, 1)).id};
    return {variable_.graph, ops::append_group(*variable_.graph, both, 2)};
  }
  // Not a number before the first update.
  constexpr tensor_t<Variable> value() const {
    const ref n = detail::scalar_cast(updates_, dtype::float64);
    const ref weight = 1.0 - emit<ops::pow>(ops::scalar_like(n, decay_), n);
    return {variable_.graph, (sum_ / detail::scalar_cast(weight, sum_.type())).id};
  }

 private:
  Variable variable_;
  double decay_;
  ref sum_, updates_;
};

}  // namespace flowgraph
