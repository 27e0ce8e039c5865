// Matrix rows with Eigen by hand, its products on OpenMP: the products themselves, and networks of dense layers with
// their gradients written out.
#include <cstddef>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "../support/contest.hpp"

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using row_vector = Eigen::RowVectorXf;
using map = Eigen::Map<const matrix>;

struct dense {
  matrix w, dw, out, dout;
  row_vector b;

  dense(int in, int units, std::uint32_t salt, float scale) : b(row_vector::Zero(units)) {
    const auto values = bench::numbers(static_cast<std::size_t>(in) * static_cast<std::size_t>(units), salt, scale);
    w = map(values.data(), in, units);
  }
  template <class X>
  void forward(const X& x) {
    out.noalias() = x * w;
    out.rowwise() += b;
  }
  // From dout, the gradient by out.
  template <class X>
  void update(const X& x, float rate) {
    dw.noalias() = x.transpose() * dout;
    w -= rate * dw;
    b -= rate * dout.colwise().sum();
  }
};

// Mean cross-entropy of the softmax of the rows; its gradient goes to dout.
float loss_of(const matrix& logits, const std::vector<std::int64_t>& labels, matrix& dout) {
  float sum = 0;
  const auto n = static_cast<float>(logits.rows());
  dout.resize(logits.rows(), logits.cols());
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    const float top = logits.row(i).maxCoeff();
    const auto label = labels[static_cast<std::size_t>(i)];
    dout.row(i) = (logits.row(i).array() - top).exp();
    const float total = dout.row(i).sum();
    sum += std::log(total) + top - logits(i, label);
    dout.row(i) /= total * n;
    dout(i, label) -= 1 / n;
  }
  return sum / n;
}

struct network {
  std::vector<dense> layers;
  std::vector<float> x;
  std::vector<std::int64_t> y;

  double step() {
    const int last = static_cast<int>(layers.size()) - 1;
    const auto layer = [this](int i) -> dense& { return layers[static_cast<std::size_t>(i)]; };
    const map input(x.data(), static_cast<Eigen::Index>(y.size()), layers[0].w.rows());
    for (int i = 0; i <= last; ++i) {
      if (i == 0)
        layer(0).forward(input);
      else
        layer(i).forward(layer(i - 1).out);
      if (i < last) layer(i).out = layer(i).out.cwiseMax(0.0f);
    }
    const float loss = loss_of(layer(last).out, y, layer(last).dout);
    for (int i = last; i > 0; --i) {
      dense& below = layer(i - 1);
      below.dout.noalias() = layer(i).dout * layer(i).w.transpose();
      below.dout = (below.out.array() > 0).select(below.dout, 0.0f);
      layer(i).update(below.out, 0.01f);
    }
    layer(0).update(input, 0.01f);
    return loss;
  }
};

bench::step training(network n) {
  return [n = std::make_shared<network>(std::move(n))] { return n->step(); };
}

template <int N>
bench::step product(int threads) {
  Eigen::setNbThreads(threads);
  return [a = bench::numbers(N * N, 0, 1), b = bench::numbers(N * N, 1, 1)] {
    matrix y(N, N);
    y.noalias() = map(a.data(), N, N) * map(b.data(), N, N);
    return y(N - 1, N - 1);
  };
}

int main(int argc, char** argv) {
  return bench::serve(
      argc, argv,
      {{"matmul_256", product<256>},
       {"matmul_1024", product<1024>},
       {"matmul_2048", product<2048>},
       {"mlp_small",
        [](int) {
          Eigen::setNbThreads(1);  // two are slower here
          return training({{dense(64, 32, 1, 0.1f), dense(32, 10, 2, 0.1f)},
                           bench::numbers(32 * 64, 0, 1),
                           bench::integers(32, 9, 10)});
        }},
       {"mlp_large", [](int threads) {
          Eigen::setNbThreads(threads);
          return training({{dense(784, 1024, 1, 0.05f), dense(1024, 1024, 2, 0.05f), dense(1024, 10, 3, 0.05f)},
                           bench::numbers(128 * 784, 0, 1),
                           bench::integers(128, 9, 10)});
        }}});
}
