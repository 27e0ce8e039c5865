// Random programs on two and three devices beside one, bit for bit: loops in branches in loops, queues in them,
// gradients and optimizers, named extents, empty tensors, strings of tiny steps. FLOWGRAPH_RANDOM_PROGRAMS says how
// many.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/graph/print.hpp>
#include <flowgraph/session/dynamic_session.hpp>

namespace fg = flowgraph;

namespace {

inline constexpr fg::dim rows{"rows"};
using rows_tensor = fg::tensor<float, rows, 4>;

class program {
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  // There or anywhere.
  template <class Make>
  auto on(const Make& make) {
    if (pick(2) == 0) return make();
    auto there = g.device(pick(3) == 0 ? "/cpu:0" : pick(2) == 0 ? "/cpu:1" : "/cpu:2");
    return make();
  }

 public:
  explicit program(std::uint64_t seed) : random_(static_cast<unsigned>(seed)) {
    for (int k = 0; k < 3; ++k)
      on([&] {
        weights_.push_back(g.variable<float, 4, 4>("w" + std::to_string(k), fg::init::glorot_uniform()));
        return 0;
      });
    std::vector<rows_tensor> values{x, tanh(x)};
    for (int k = 0; k < 8; ++k) values.push_back(grow(values, 0));
    out = on([&] {
      return tanh(matmul(values.back(), weights_[0]) + values[values.size() - 2]) +
             values[values.size() - 3] * cast<float>(turns);
    });
    loss = reduce_mean(square(out + x)) + reduce_sum(values[2]) * 0.125f;
    train = pick(3) == 0   ? fg::adam(0.01).minimize(loss)
            : pick(2) == 0 ? fg::momentum(0.05, 0.9).minimize(loss)
                           : fg::gradient_descent(0.05).minimize(loss);
    dequeues_ = true;
    put = queue.enqueue(reduce_sum(x));
    values.resize(2);
    for (int k = 0; k < 4; ++k) values.push_back(grow(values, 0));
    from_queue = tanh(values.back() * queue.dequeue()) + x * cast<float>(turns);
    auto t = reduce_sum(x);  // a string of tiny steps
    for (int k = 0; k < 30; ++k) t = on([&] { return pick(2) == 0 ? tanh(t) : t * 0.5f + 0.25f; });
    tiny = t;
    counted = on([&] {
      return fg::while_loop([&](auto i) { return i < turns; },
                            [&](auto i) {
                              auto after = g.control_dependencies(on([&] { return assign_add(count, 1.f); }));
                              return i + 1;
                            },
                            g.constant<std::int32_t>(0));
    });
  }

  fg::graph g;
  rows_tensor x = g.placeholder<float, rows, 4>("x");
  fg::tensor<std::int32_t> turns = g.placeholder<std::int32_t>("turns");
  fg::variable<float> count = g.variable<float>("count");
  decltype(fg::fifo_queue<fg::tensor<float>>(g, "queue", 1)) queue =
      fg::fifo_queue<fg::tensor<float>>(g, "queue", 100'000);
  rows_tensor out, from_queue;
  fg::tensor<float> loss, tiny;
  fg::tensor<std::int32_t> counted;
  fg::operation train, put;

  const fg::variable<float, 4, 4>& weight(std::size_t k) const { return weights_[k]; }

 private:
  const rows_tensor& any(const std::vector<rows_tensor>& values) {
    return values[static_cast<std::size_t>(pick(static_cast<int>(values.size())))];
  }
  rows_tensor grow(const std::vector<rows_tensor>& values, int depth) {
    const rows_tensor a = any(values), b = any(values);
    const auto& w = weights_[static_cast<std::size_t>(pick(3))];
    const auto deeper = [&](const rows_tensor& more) {
      std::vector<rows_tensor> inner = values;
      inner.push_back(more);
      for (int k = pick(2); k >= 0; --k) inner.push_back(grow(inner, depth + 1));
      return inner.back();
    };
    return on([&]() -> rows_tensor {
      switch (pick(depth < 3 ? 8 : 5)) {
        case 0:
          return tanh(a + b);
        case 1:
          return a * 0.5f - b;
        case 2:
          return tanh(matmul(a, w));
        case 3:
          return tanh(a * reduce_sum(b));
        case 4:
          if (dequeues_) return tanh(a + queue.dequeue());
          return relu(a - 0.125f) * b;
        case 5:
          return fg::cond(
              reduce_sum(a) > 0.5f, [&] { return deeper(a); }, [&] { return deeper(b); });
        default:
          return std::get<1>(fg::while_loop([&](auto i, auto, auto) { return i < turns; },
                                            [&](auto i, auto u, auto v) {
                                              const rows_tensor next = deeper(u);
                                              return std::tuple(i + 1, tanh(next + v), tanh(v - a));
                                            },
                                            g.constant<std::int32_t>(0), a, b));
      }
    });
  }

  std::mt19937 random_;
  bool dequeues_ = false;
  std::vector<fg::variable<float, 4, 4>> weights_;
};

}  // namespace

TEST_CASE("random programs on several devices give what one gives, bit for bit") {
  const char* asked = std::getenv("FLOWGRAPH_RANDOM_PROGRAMS");
  const int programs = asked != nullptr ? std::atoi(asked) : 20;
  int sends = 0, largest = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(programs); ++seed) {
    CAPTURE(seed);
    program p(seed);
    largest = std::max(largest, p.g.view().size());
    // What is computed within one kernel is chosen by what is beside what, and sums are cut by that.
    fg::passes::options passes{.fuse = false, .soft_placement = true};
    fg::dynamic_session one(p.g, {.threads = 1, .seed = seed, .passes = passes});
    const bool three = seed % 2 == 0;
    std::vector<std::string> devices{"/cpu:0", seed % 3 == 0 ? "/job:far/cpu:1" : "/cpu:1"};
    if (three) devices.push_back("/cpu:2");
    const int threads = 1 + static_cast<int>(seed % 3);
    fg::dynamic_session several(
        p.g, {.threads = threads,
              .seed = seed,
              .serial_below = 0,
              .inter_op = seed % 4 < 2 ? fg::inter_op_policy::parallel : fg::inter_op_policy::automatic,
              .updates = seed % 5 == 0 ? fg::update_policy::overlapping : fg::update_policy::consistent,
              .devices = devices,
              .passes = passes});
    for (const std::int64_t n : {3, 0, 40}) {
      fg::ndarray<float, rows, 4> x{fg::binding{"rows", n}};
      for (std::int64_t i = 0; i < x.size(); ++i)
        x.data()[i] = std::sin(static_cast<float>(i) + static_cast<float>(seed));
      for (const std::int32_t turns : {2, 0, 3}) {
        const auto both = [&](const auto& run) {
          const auto expected = run(one);
          const auto got = run(several);
          CHECK((got == expected));
        };
        if (n > 0)
          both([&](auto& s) { return s.run(p.out, p.loss, p.train, fg::feed(p.x, x), fg::feed(p.turns, turns)); });
        both([&](auto& s) { return s.run(p.out, fg::feed(p.x, x), fg::feed(p.turns, turns)); });
        both([&](auto& s) { return s.run(p.tiny, fg::feed(p.x, x)); });
        both([&](auto& s) { return s.run(p.counted, fg::feed(p.turns, turns)); });
        both([&](auto& s) { return s.get(p.count)(); });
      }
      const auto dequeue = [&](auto& s) {
        for (int k = 0; k < 400; ++k) s.run(p.put, fg::feed(p.x, x));
        return s.run(p.from_queue, fg::feed(p.x, x), fg::feed(p.turns, 2));
      };
      CHECK((dequeue(several) == dequeue(one)));
    }
    for (std::size_t k = 0; k < 3; ++k) CHECK((several.get(p.weight(k)) == one.get(p.weight(k))));
    const std::string text = several.plan_text(
        p.out, fg::feed(p.x, fg::ndarray<float, rows, 4>{fg::binding{"rows", 1}}), fg::feed(p.turns, 1));
    for (std::size_t at = text.find(" send"); at != std::string::npos; at = text.find(" send", at + 1)) ++sends;
  }
  MESSAGE(programs, " programs of up to ", largest, " nodes; ", sends, " sends");
  CHECK(sends > programs);
}
