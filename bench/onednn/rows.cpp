// oneDNN by hand: primitives made once, in the layouts that it chooses for itself; images come and go as [batch,
// height, width, channels].
#include <memory>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "../support/contest.hpp"

using dims = dnnl::memory::dims;
using tag = dnnl::memory::format_tag;
using arguments = std::unordered_map<int, dnnl::memory>;

struct machine {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};

  dnnl::memory::desc describe(const dims& d, tag t) const { return {d, dnnl::memory::data_type::f32, t}; }
  dnnl::memory borrow(const dims& d, tag t, std::vector<float>& data) const {
    return {describe(d, t), engine, data.data()};
  }
  // m itself where it has the layout already, or else a reordered copy.
  dnnl::memory in_layout(dnnl::memory m, const dnnl::memory::desc& wanted) {
    if (m.get_desc() == wanted) return m;
    dnnl::memory other(wanted, engine);
    dnnl::reorder(m, other).execute(stream, m, other);
    return other;
  }
};

template <int N>
bench::step matmul(int) {
  struct state {
    machine cpu;
    std::vector<float> a = bench::numbers(N * N, 0, 1), b = bench::numbers(N * N, 1, 1);
    dnnl::matmul product{dnnl::matmul::primitive_desc(
        dnnl::matmul::desc(cpu.describe({N, N}, tag::ab), cpu.describe({N, N}, tag::ab), cpu.describe({N, N}, tag::ab)),
        cpu.engine)};
  };
  return [s = std::make_shared<state>()] {
    std::vector<float> y(N * N);
    s->product.execute(s->cpu.stream, {{DNNL_ARG_SRC, s->cpu.borrow({N, N}, tag::ab, s->a)},
                                       {DNNL_ARG_WEIGHTS, s->cpu.borrow({N, N}, tag::ab, s->b)},
                                       {DNNL_ARG_DST, s->cpu.borrow({N, N}, tag::ab, y)}});
    s->cpu.stream.wait();
    return y.back();
  };
}

// The convolution of the conv rows. Filters are reordered once for the forward pass, where they do not change.
struct convolution {
  static inline const dims x_dims{8, 64, 56, 56}, w_dims{64, 64, 3, 3}, one{1, 1};
  static constexpr auto undefined = dnnl::memory::format_tag::any;

  machine cpu;
  std::vector<float> x = bench::numbers(8 * 56 * 56 * 64, 0, 1), w = bench::numbers(3 * 3 * 64 * 64, 1, 0.05f);
  dnnl::memory::desc any_x = cpu.describe(x_dims, undefined), any_w = cpu.describe(w_dims, undefined);
  dnnl::convolution_forward::primitive_desc forward{
      {dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, any_x, any_w, any_x, one, one, one},
      cpu.engine};
  dnnl::convolution_backward_data::primitive_desc by_x{
      {dnnl::algorithm::convolution_direct, any_x, any_w, any_x, one, one, one}, cpu.engine, forward};
  dnnl::convolution_backward_weights::primitive_desc by_w{
      {dnnl::algorithm::convolution_direct, any_x, any_w, any_x, one, one, one}, cpu.engine, forward};
  dnnl::convolution_forward run_forward{forward};
  dnnl::convolution_backward_data run_by_x{by_x};
  dnnl::convolution_backward_weights run_by_w{by_w};
  dnnl::memory filters = cpu.in_layout(cpu.borrow(w_dims, tag::hwio, w), forward.weights_desc());
  dnnl::memory filters_by_x = cpu.in_layout(cpu.borrow(w_dims, tag::hwio, w), by_x.weights_desc());
  dnnl::memory y{forward.dst_desc(), cpu.engine};

  dnnl::memory images() { return cpu.in_layout(cpu.borrow(x_dims, tag::nhwc, x), forward.src_desc()); }
  void run(const dnnl::memory& in) {
    run_forward.execute(cpu.stream, {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, filters}, {DNNL_ARG_DST, y}});
  }
  float last(dnnl::memory m, const dims& d, tag t) {
    const dnnl::memory plain = cpu.in_layout(m, cpu.describe(d, t));
    cpu.stream.wait();
    const auto* data = static_cast<const float*>(plain.get_data_handle());
    return data[plain.get_desc().get_size() / sizeof(float) - 1];
  }
};

bench::step conv_forward(int) {
  return [s = std::make_shared<convolution>()] {
    s->run(s->images());
    return s->last(s->y, convolution::x_dims, tag::nhwc);
  };
}

// y^2 summed, over two threads like all else.
double half_of_squares(const dnnl::memory& y) {
  const auto* data = static_cast<const float*>(y.get_data_handle());
  const auto n = static_cast<long>(y.get_desc().get_size() / sizeof(float));
  float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += data[i] * data[i];
  return sum / 2;
}

bench::step conv_train(int) {
  return [s = std::make_shared<convolution>()] {
    const dnnl::memory in = s->images();
    s->run(in);
    s->cpu.stream.wait();
    const double loss = half_of_squares(s->y);  // whose gradient by y is y
    dnnl::memory dx(s->by_x.diff_src_desc(), s->cpu.engine), dw(s->by_w.diff_weights_desc(), s->cpu.engine);
    s->run_by_x.execute(s->cpu.stream, {{DNNL_ARG_DIFF_DST, s->cpu.in_layout(s->y, s->by_x.diff_dst_desc())},
                                        {DNNL_ARG_WEIGHTS, s->filters_by_x},
                                        {DNNL_ARG_DIFF_SRC, dx}});
    s->run_by_w.execute(s->cpu.stream, {{DNNL_ARG_DIFF_DST, s->cpu.in_layout(s->y, s->by_w.diff_dst_desc())},
                                        {DNNL_ARG_SRC, s->cpu.in_layout(in, s->by_w.src_desc())},
                                        {DNNL_ARG_DIFF_WEIGHTS, dw}});
    return loss + s->last(dx, convolution::x_dims, tag::nhwc) + s->last(dw, convolution::w_dims, tag::hwio);
  };
}

int main(int argc, char** argv) {
  return bench::serve(argc, argv,
                      {{"matmul_256", matmul<256>},
                       {"matmul_1024", matmul<1024>},
                       {"matmul_2048", matmul<2048>},
                       {"conv_forward", conv_forward},
                       {"conv_train", conv_train}});
}
