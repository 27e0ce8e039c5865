// How a variable begins. The number of inputs and outputs that the Glorot, He and LeCun schemes need are the
// variable's last two extents times what lies before them (the window of a convolution's filter).
#pragma once
#include <cstdint>

namespace flowgraph {

enum class initializer : std::int64_t {
  constant,
  uniform,
  normal,
  truncated_normal,
  glorot_uniform,
  glorot_normal,
  he_uniform,
  he_normal,
  lecun_uniform,
  lecun_normal
};

struct initial_value {
  initializer kind = initializer::constant;
  double a = 0;  // constant: the value; uniform: the lower bound; normal: the mean
  double b = 0;  // uniform: the upper bound; normal: the standard deviation
};

namespace init {

constexpr initial_value constant(double value) { return {initializer::constant, value, 0}; }
constexpr initial_value zeros() { return constant(0); }
constexpr initial_value ones() { return constant(1); }
constexpr initial_value uniform(double low, double high) { return {initializer::uniform, low, high}; }
constexpr initial_value normal(double mean, double deviation) { return {initializer::normal, mean, deviation}; }
// As normal, drawn again where it lies more than two deviations from the mean.
constexpr initial_value truncated_normal(double mean, double deviation) {
  return {initializer::truncated_normal, mean, deviation};
}
constexpr initial_value glorot_uniform() { return {initializer::glorot_uniform, 0, 0}; }
constexpr initial_value glorot_normal() { return {initializer::glorot_normal, 0, 0}; }
constexpr initial_value he_uniform() { return {initializer::he_uniform, 0, 0}; }
constexpr initial_value he_normal() { return {initializer::he_normal, 0, 0}; }
constexpr initial_value lecun_uniform() { return {initializer::lecun_uniform, 0, 0}; }
constexpr initial_value lecun_normal() { return {initializer::lecun_normal, 0, 0}; }

}  // namespace init
}  // namespace flowgraph
