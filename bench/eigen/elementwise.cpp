// Element-wise rows with Eigen by hand: an array expression on one thread where it is small, Eigen's tensors on a pool
// where it is large.
#define EIGEN_USE_THREADS
#include <memory>
#include <vector>

#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/Tensor>

#include "../support/contest.hpp"

using array = Eigen::Map<const Eigen::ArrayXf, Eigen::Unaligned>;

template <int N>
bench::step on_one_thread(int) {
  return [x = bench::numbers(N, 0, 2), a = bench::numbers(N, 1, 1), b = bench::numbers(N, 2, 1)] {
    const array vx(x.data(), N), va(a.data(), N), vb(b.data(), N);
    const Eigen::ArrayXf y = (vx * va + vb).tanh() * vx.logistic() + (-vx * vx).exp();
    return y[N - 1];
  };
}

template <int N>
bench::step on_a_pool(int threads) {
  struct state {
    explicit state(int t) : pool(t), device(&pool, t) {}
    Eigen::ThreadPool pool;
    Eigen::ThreadPoolDevice device;
  };
  return [s = std::make_shared<state>(threads), x = bench::numbers(N, 0, 2), a = bench::numbers(N, 1, 1),
          b = bench::numbers(N, 2, 1)] {
    using tensor = Eigen::TensorMap<const Eigen::Tensor<float, 1>>;
    const tensor vx(x.data(), N), va(a.data(), N), vb(b.data(), N);
    Eigen::Tensor<float, 1> y(N);
    y.device(s->device) = (vx * va + vb).tanh() * vx.sigmoid() + (-vx * vx).exp();
    return y[N - 1];
  };
}

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"chain_4k", on_one_thread<4096>}, {"chain_1m", on_a_pool<1 << 20>}});
}
