#include "model.hpp"

float accuracy(fg::session<either>& s, const std::vector<float>& x, const std::vector<std::int64_t>& y) {
  return s.run<"accuracy">(fg::feed<"x">(x), fg::feed<"y">(y));
}
