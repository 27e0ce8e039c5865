// libtorch: eager, images in channels-last order; python/pytorch_rows.py in C++.
#include <memory>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "../support/contest.hpp"

using torch::Tensor;
namespace F = torch::nn::functional;

Tensor numbers(at::IntArrayRef shape, std::uint32_t salt, float scale) {
  const auto values = bench::numbers(static_cast<std::size_t>(c10::multiply_integers(shape)), salt, scale);
  return torch::tensor(values).reshape(shape);
}
Tensor parameter(at::IntArrayRef shape, std::uint32_t salt, float scale) {
  return numbers(shape, salt, scale).requires_grad_();
}
Tensor bias(std::int64_t n) { return torch::zeros(n).requires_grad_(); }
// [batch, height, width, channels] as channels-last images.
Tensor images(at::IntArrayRef shape, std::uint32_t salt) { return numbers(shape, salt, 1).permute({0, 3, 1, 2}); }
Tensor filters(at::IntArrayRef shape, std::uint32_t salt, float scale) {
  return numbers(shape, salt, scale).permute({3, 2, 0, 1}).contiguous(at::MemoryFormat::ChannelsLast);
}

struct layer {
  Tensor w, b;
};

std::vector<Tensor> parameters_of(const std::vector<layer>& layers) {
  std::vector<Tensor> result;
  for (const layer& l : layers) result.insert(result.end(), {l.w, l.b});
  return result;
}

Tensor dense(Tensor h, const std::vector<layer>& layers) {
  for (std::size_t k = 0; k < layers.size(); ++k) {
    h = torch::addmm(layers[k].b, h, layers[k].w);
    if (k + 1 < layers.size()) h = torch::relu(h);
  }
  return h;
}

template <class Loss>
bench::step training(const std::vector<Tensor>& parameters, Loss loss_of) {
  auto optimizer = std::make_shared<torch::optim::SGD>(parameters, 0.01);
  return [optimizer, loss_of]() mutable {
    optimizer->zero_grad();
    const Tensor loss = loss_of();
    loss.backward();
    optimizer->step();
    return loss.item<double>();
  };
}

bench::step null_step() {
  return [x = torch::tensor(1.0f), v = torch::tensor(2.0f)] {
    const c10::InferenceMode no_gradients;
    return (x + v).const_data_ptr<float>()[0];
  };
}

bench::step mlp(const std::vector<std::int64_t>& widths, std::int64_t batch, float scale) {
  std::vector<layer> layers;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k)
    layers.push_back(
        {parameter({widths[k], widths[k + 1]}, static_cast<std::uint32_t>(k + 1), scale), bias(widths[k + 1])});
  return training(parameters_of(layers), [layers, x = numbers({batch, widths[0]}, 0, 1),
                                          y = torch::tensor(bench::integers(static_cast<std::size_t>(batch), 9, 10))] {
    return F::cross_entropy(dense(x, layers), y);
  });
}

bench::step chain(std::int64_t n) {
  return [x = numbers(n, 0, 2), a = numbers(n, 1, 1), b = numbers(n, 2, 1), n] {
    const Tensor y = torch::tanh(x * a + b) * torch::sigmoid(x) + torch::exp(-x * x);
    return y.const_data_ptr<float>()[n - 1];
  };
}

bench::step matmul(std::int64_t n) {
  return [a = numbers({n, n}, 0, 1), b = numbers({n, n}, 1, 1), n] {
    return torch::mm(a, b).const_data_ptr<float>()[n * n - 1];
  };
}

float last_element(const Tensor& t) { return t[-1][-1][-1][-1].item<float>(); }

bench::step conv_forward() {
  return [x = images({8, 56, 56, 64}, 0), w = filters({3, 3, 64, 64}, 1, 0.05f)] {
    return last_element(torch::conv2d(x, w, {}, 1, 1));
  };
}

bench::step conv_train() {
  return [x = images({8, 56, 56, 64}, 0).requires_grad_(), w = filters({3, 3, 64, 64}, 1, 0.05f).requires_grad_()] {
    const Tensor y = torch::conv2d(x, w, {}, 1, 1);
    const Tensor loss = (y * y).sum() * 0.5;
    const auto gradients = torch::autograd::grad({loss}, {x, w});
    return loss.item<float>() + last_element(gradients[0]) + last_element(gradients[1]);
  };
}

bench::step alexnet() {
  std::vector<layer> convs{{filters({11, 11, 3, 64}, 1, 0.09f).requires_grad_(), bias(64)},
                           {filters({5, 5, 64, 192}, 2, 0.06f).requires_grad_(), bias(192)},
                           {filters({3, 3, 192, 384}, 3, 0.06f).requires_grad_(), bias(384)},
                           {filters({3, 3, 384, 256}, 4, 0.04f).requires_grad_(), bias(256)},
                           {filters({3, 3, 256, 256}, 5, 0.05f).requires_grad_(), bias(256)}};
  std::vector<layer> layers{{parameter({9216, 4096}, 6, 0.025f), bias(4096)},
                            {parameter({4096, 4096}, 7, 0.04f), bias(4096)},
                            {parameter({4096, 1000}, 8, 0.04f), bias(1000)}};
  std::vector<Tensor> parameters = parameters_of(convs);
  for (const Tensor& t : parameters_of(layers)) parameters.push_back(t);
  return training(parameters,
                  [convs, layers, x = images({8, 224, 224, 3}, 0), y = torch::tensor(bench::integers(8, 9, 1000))] {
                    Tensor h = x;
                    for (std::size_t k = 0; k < convs.size(); ++k) {
                      h = torch::relu(torch::conv2d(h, convs[k].w, convs[k].b, k == 0 ? 4 : 1, k < 2 ? 2 : 1));
                      if (k < 2 || k == 4) h = torch::max_pool2d(h, 3, 2);
                    }
                    return F::cross_entropy(dense(h.permute({0, 2, 3, 1}).reshape({8, 9216}), layers), y);
                  });
}

// A recursive network on trees of 16 leaves, as flowgraph/tree.cpp has them: of as many shapes, one after another.
bench::step trees(std::uint32_t shapes) {
  constexpr std::int64_t leaves = 16, width = 32, words = 100, classes = 5;
  const Tensor table = parameter({words, width}, 1, 0.5f), w = parameter({2 * width, width}, 2, 0.2f);
  const Tensor b = bias(width), out = parameter({width, classes}, 3, 0.2f);
  return training({table, w, b, out}, [=, turn = std::uint32_t{0}]() mutable {
    const Tensor ids = torch::tensor(bench::integers(leaves, 10 + turn, words));
    std::vector<Tensor> nodes = torch::embedding(table, ids).split(1);  // [1, 32]
    for (std::size_t k = 0; nodes.size() > 1; ++k) {
      const std::size_t at = bench::hash_of(k, 100 + turn % shapes) % (nodes.size() - 1);
      nodes[at] = torch::tanh(torch::addmm(b, torch::cat({nodes[at], nodes[at + 1]}, 1), w));
      nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    const Tensor label = torch::tensor({static_cast<std::int64_t>(turn++ % classes)});
    return F::cross_entropy(torch::mm(nodes[0], out), label);
  });
}

int main(int argc, char** argv) {
  const auto on = [](auto prepare) {
    return [prepare](int threads) -> bench::step {
      torch::set_num_threads(threads);
      return prepare();
    };
  };
  return bench::serve(argc, argv,
                      {{"null_step", on(null_step)},
                       {"mlp_small", on([] {
                          return mlp({64, 32, 10}, 32, 0.1f);
                        })},
                       {"mlp_large", on([] {
                          return mlp({784, 1024, 1024, 10}, 128, 0.05f);
                        })},
                       {"chain_4k", on([] { return chain(4096); })},
                       {"chain_1m", on([] { return chain(1 << 20); })},
                       {"matmul_256", on([] { return matmul(256); })},
                       {"matmul_1024", on([] { return matmul(1024); })},
                       {"matmul_2048", on([] { return matmul(2048); })},
                       {"conv_forward", on(conv_forward)},
                       {"conv_train", on(conv_train)},
                       {"alexnet", on(alexnet)},
                       {"tree_new", on([] { return trees(0xffffffffu); })},
                       {"tree_met", on([] { return trees(8); })}});
}
